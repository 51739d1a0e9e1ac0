// Contents that resemble each other as groups, each with one colour. At 1 only the same content is a group; below it each content goes to the larger one that it
// resembles most, if that much: all members resemble the first, and no chain of small changes joins what has nothing in common.

import { askRows, type Selection } from "../client/client";

const PAIRS_MAX = 50_000;

export interface Pair {
  a: string; // fingerprints
  b: string;
  jaccard: number;
}

// Of contents that were moved in the selection. Of equal ones the table knows the first event only, wherever that is; so they are told by fingerprint.
export async function askPairs(selection: Selection, signal: AbortSignal): Promise<Pair[]> {
  const sql =
    `WITH moved AS (SELECT DISTINCT fingerprint FROM selected WHERE bytes > 0 AND fingerprint IS NOT NULL) ` +
    `SELECT a.fingerprint, b.fingerprint, max(s.jaccard) AS jaccard FROM similarities s JOIN events a ON a.event_id = s.a JOIN events b ON b.event_id = s.b ` +
    `WHERE s.item = 'event' AND a.fingerprint <> b.fingerprint AND a.fingerprint IN (SELECT fingerprint FROM moved) AND b.fingerprint IN (SELECT fingerprint FROM moved) ` +
    `GROUP BY ALL ORDER BY jaccard DESC, 1, 2 LIMIT ${PAIRS_MAX}`;
  return (await askRows(sql, selection, signal, PAIRS_MAX)).rows.map(([a, b, jaccard]) => ({
    a: String(a),
    b: String(b),
    jaccard: Number(jaccard),
  }));
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
