// Rows of two timelines beside each other: those with the same words are one lane, with a half for each.
//
//   first: vm › git[7] › git[8]        vm › git ─┬─ git[7] │▂▅█   │
//   second: vm › git[31] › git[33]               └─ git[31]│▂▅██▂ │
//
// Words are a name without its number; of several with the same name under the same row the n-th of one is the n-th of the other. What is only in one has one half.
// If each has one node left that has no partner, these are partners: the same work on another machine.

import type { TimelineRows } from "../generated/api";
import { RowKind } from "../client/timeline";
import { LaneList, type Lane } from "./lanes";

export type Two<T> = [T, T];

export interface RowPair {
  rows: Two<number | null>;
  words: string;
  key: string; // what an address calls it: words from the node on, which stay when there are more rows
  kind: RowKind;
  parent: number; // in the list; -1: none
  isGroup: boolean; // something is beneath it
}

export interface PairLane {
  pair: number;
  top: number; // pixels below the top of the first lane
  height: number; // of both halves
  isOpen: boolean | null; // null: nothing is beneath it
}

export const HALF = 17; // pixels
const OPEN_MAX = 24; // processes are open at first if there are at most so many pairs

const wordsOf = (rows: TimelineRows["rows"], row: number): string =>
  rows.kind[row] === RowKind.node ? (rows.label[row] ?? "") : (rows.label[row] ?? "").replace(/\[\d+\]$/, "");

function childrenOf({ rows }: TimelineRows): Map<number, number[]> {
  const children = new Map<number, number[]>();
  rows.parent.forEach((parent, row) => {
    const group = children.get(parent);
    if (group === undefined) {
      children.set(parent, [row]);
    } else {
      group.push(row);
    }
  });
  return children;
}

// Each with its partner, in the order of the first; what is only in the second is last.
function partners(all: Two<TimelineRows>, here: number[], there: number[]): Two<number | null>[] {
  const waiting = new Map<string, number[]>(),
    left = new Set(there);
  for (const row of [...there].reverse()) {
    // the first is taken first
    const words = wordsOf(all[1].rows, row),
      same = waiting.get(words);
    if (same === undefined) {
      waiting.set(words, [row]);
    } else {
      same.push(row);
    }
  }
  const pairs = here.map((row): Two<number | null> => {
    const partner = waiting.get(wordsOf(all[0].rows, row))?.pop() ?? null;
    left.delete(partner ?? -1);
    return [row, partner];
  });
  const alone = pairs.filter(([, partner]) => partner === null);
  const [lonely] = alone,
    [other] = left;
  if (
    alone.length === 1 &&
    left.size === 1 &&
    lonely !== undefined &&
    other !== undefined &&
    all[0].rows.kind[lonely[0] ?? -1] === RowKind.node
  ) {
    lonely[1] = other;
    left.clear();
  }
  return [...pairs, ...there.filter((row) => left.has(row)).map((row): Two<number | null> => [null, row])];
}

// How long each was there.
export const spansOf = (all: Two<TimelineRows>, { rows }: RowPair): Two<number> =>
  rows.map((row, side) =>
    row === null
      ? 0
      : ((all[side] as TimelineRows).rows.end[row] ?? 0) - ((all[side] as TimelineRows).rows.begin[row] ?? 0),
  ) as Two<number>;
export const callsOf = (all: Two<TimelineRows>, { rows }: RowPair): Two<number> =>
  rows.map((row, side) => (row === null ? 0 : ((all[side] as TimelineRows).rows.events[row] ?? 0))) as Two<number>;

// Under the same row those first that differ most in how long they were there, then in calls; or in the order in which they came.
export function pairsOf(all: Two<TimelineRows>, isDifferentFirst: boolean): RowPair[] {
  const children = all.map(childrenOf) as Two<Map<number, number[]>>,
    list: RowPair[] = [];
  const gap = ([a, b]: Two<number>): number => Math.abs(a - b);
  const below = (rows: Two<number | null>, parent: number): number => {
    const [here = [], there = []] = rows.map((row, side) =>
      row === null ? [] : ((children[side] as Map<number, number[]>).get(row) ?? []),
    );
    const found = partners(all, here, there).map((each): RowPair => {
      const side = each[0] === null ? 1 : 0,
        row = each[side] ?? 0;
      return {
        rows: each,
        words: wordsOf(all[side].rows, row),
        key: "",
        kind: all[side].rows.kind[row] ?? RowKind.thread,
        parent,
        isGroup: false,
      };
    });
    const above = list[parent]?.key ?? "",
      many = new Map<string, number>();
    for (const pair of found) {
      const before = many.get(pair.words) ?? 0;
      many.set(pair.words, before + 1);
      pair.key = `${above}/${pair.words}${before === 0 ? "" : `~${before}`}`;
    }
    if (isDifferentFirst && found[0]?.kind !== RowKind.node) {
      found.sort((a, b) => gap(spansOf(all, b)) - gap(spansOf(all, a)) || gap(callsOf(all, b)) - gap(callsOf(all, a)));
    }
    for (const pair of found) {
      const at = list.push(pair) - 1,
        threads = Math.max(
          ...pair.rows.map((row, side) => (row === null ? 0 : ((all[side] as TimelineRows).rows.threads[row] ?? 0))),
        );
      pair.isGroup =
        (pair.kind === RowKind.node || (pair.kind === RowKind.process && threads > 1)) && below(pair.rows, at) > 0; // a process with one thread is that thread
    }
    return found.length;
  };
  below([-1, -1], -1);
  return list;
}

export class PairLanes {
  readonly pairs: RowPair[];
  lanes: PairLane[] = [];
  height = 0;
  halves: Two<LaneList>;

  // `folded` has the keys of pairs that are not as they are at first.
  constructor(
    readonly all: Two<TimelineRows>,
    isDifferentFirst: boolean,
    readonly folded: Set<string>,
  ) {
    this.pairs = pairsOf(all, isDifferentFirst);
    this.halves = [new LaneList(all[0]), new LaneList(all[1])];
    this.layOut();
  }

  fold(pair: number): void {
    const { key = "", isGroup = false } = this.pairs[pair] ?? {};
    if (isGroup) {
      if (!this.folded.delete(key)) {
        this.folded.add(key);
      }
      this.layOut();
    }
  }

  foldAll(isOpen: boolean): void {
    this.folded.clear();
    this.pairs.forEach(({ key, kind, isGroup }, pair) => {
      if (kind === RowKind.process && isGroup && this.isOpen(pair) !== isOpen) {
        this.folded.add(key);
      }
    });
    this.layOut();
  }

  // Which pair lies there, and which of its halves.
  at(y: number): { pair: number; side: number; row: number | null } | null {
    const index = Math.floor(y / (2 * HALF)),
      lane = this.lanes[index],
      side = y - index * 2 * HALF < HALF ? 0 : 1;
    return y < 0 || lane === undefined
      ? null
      : { pair: lane.pair, side, row: this.pairs[lane.pair]?.rows[side] ?? null };
  }

  between(top: number, bottom: number): PairLane[] {
    return this.lanes.slice(Math.max(Math.floor(top / (2 * HALF)), 0), Math.ceil(bottom / (2 * HALF)));
  }

  private isOpen(pair: number): boolean {
    const { key = "", kind } = this.pairs[pair] ?? {};
    return (kind === RowKind.node || this.pairs.length <= OPEN_MAX) !== this.folded.has(key);
  }

  private layOut(): void {
    const isSeen: boolean[] = [],
      halves: Two<Lane[]> = [[], []];
    this.lanes = [];
    this.height = 0;
    this.pairs.forEach(({ rows, parent, kind, isGroup }, pair) => {
      isSeen[pair] = parent < 0 || (isSeen[parent] === true && this.isOpen(parent));
      if (isSeen[pair] === true) {
        this.lanes.push({ pair, top: this.height, height: 2 * HALF, isOpen: isGroup ? this.isOpen(pair) : null });
        rows.forEach((row, side) => {
          if (row !== null) {
            (halves[side] as Lane[]).push({
              row,
              top: this.height + side * HALF,
              height: HALF,
              depth: kind,
              isOpen: null,
            });
          }
        });
        this.height += 2 * HALF;
      }
    });
    this.halves = [new LaneList(this.all[0], halves[0]), new LaneList(this.all[1], halves[1])];
  }
}
