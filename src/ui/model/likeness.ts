// Contents that resemble each other as groups, each with one colour. At 1 only the same content is a group; below it each content goes to the larger one that it
// resembles most, if that much: all members resemble the first, and no chain of small changes joins what has nothing in common.

import type { Selection } from "../generated/api";
import { askRecords } from "../client/client";

const PAIRS_MAX = 50_000;

export interface Pair {
  a: string; // fingerprints
  b: string;
  jaccard: number;
}

// Pairs of contents that were moved in the selection.
export async function askPairs(selection: Selection, signal: AbortSignal): Promise<Pair[]> {
  const wanted = { name: "similar_contents", parameters: { most: PAIRS_MAX }, rows_max: PAIRS_MAX } as const;
  const pairs = await askRecords({ ...wanted, selection, signal });
  return pairs.map(({ a, b, jaccard }) => ({ a: String(a), b: String(b), jaccard: Number(jaccard) }));
}

// The first of its group for each content; `sizes` has the bytes of each.
export function groupsOf(sizes: Map<string, number>, pairs: Pair[], least: number): Map<string, string> {
  const near = new Map<string, Pair[]>();
  for (const pair of least >= 1 ? [] : pairs) {
    if (pair.jaccard >= least) {
      near.set(pair.a, [...(near.get(pair.a) ?? []), pair]);
      near.set(pair.b, [...(near.get(pair.b) ?? []), { a: pair.b, b: pair.a, jaccard: pair.jaccard }]);
    }
  }
  const leaders = new Map<string, string>();
  for (const [content] of [...sizes].sort(([a, sizeA], [b, sizeB]) => sizeB - sizeA || (a < b ? -1 : 1))) {
    const known = (near.get(content) ?? [])
      .filter(({ b }) => leaders.get(b) === b)
      .sort((p, q) => q.jaccard - p.jaccard);
    leaders.set(content, known[0]?.b ?? content);
  }
  return leaders;
}
