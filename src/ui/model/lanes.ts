// The rows of a timeline as they are seen: which are folded away, and where the others lie. Node → process → thread.

import type { TimelineRows } from "../generated/api";
import { RowKind } from "../client/timeline";

export interface Lane {
  row: number;
  top: number; // pixels below the top of the first lane
  height: number;
  depth: number;
  isOpen: boolean | null; // null: nothing is beneath it
}

const HEIGHT = { [RowKind.node]: 26, [RowKind.process]: 22, [RowKind.thread]: 18 };
const OPEN_MAX = 60; // processes are open at first if there are at most so many rows

// Keys of rows that are not as they are at first, as the address has them.
export const foldedIn = (parameters: URLSearchParams): Set<string> =>
  new Set(
    (parameters.get("fold") ?? "")
      .split(",")
      .filter((key) => key !== "")
      .map(decodeURIComponent),
  );
export const foldedText = (keys: Set<string>): string | null => [...keys].map(encodeURIComponent).join(",") || null;

// Lanes of one trace, each below the one before it.
export class LaneList {
  constructor(
    readonly all: TimelineRows,
    public lanes: Lane[] = [],
  ) {}

  // The first lane that reaches into this part, and one after the last that does.
  between(top: number, bottom: number): [number, number] {
    const first = this.firstEndingAfter(top);
    let end = first;
    while (end < this.lanes.length && (this.lanes[end]?.top ?? 0) < bottom) {
      ++end;
    }
    return [first, end];
  }

  at(y: number): Lane | null {
    const lane = this.lanes[this.firstEndingAfter(y)];
    return lane === undefined || y < lane.top ? null : lane;
  }

  private firstEndingAfter(y: number): number {
    let low = 0,
      high = this.lanes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const lane = this.lanes[middle];
      if (lane !== undefined && lane.top + lane.height <= y) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  // The lane of a row, or of the one that it is folded into.
  of(row: number): Lane | null {
    for (let up = row; up >= 0; up = this.all.rows.parent[up] ?? -1) {
      const lane = this.lanes.find((each) => each.row === up);
      if (lane !== undefined) {
        return lane;
      }
    }
    return null;
  }
}

export class Lanes extends LaneList {
  height = 0;
  private readonly children: number[];

  // `folded` has the keys of rows that are not as they are at first.
  constructor(
    all: TimelineRows,
    readonly folded: Set<string>,
  ) {
    super(all);
    const { parent } = all.rows;
    this.children = parent.map(() => 0);
    for (const above of parent) {
      if (above >= 0) {
        this.children[above] = (this.children[above] ?? 0) + 1;
      }
    }
    this.layOut();
  }

  // What an address calls a row: it stays the same when there are more rows.
  key(row: number): string {
    const { kind, id, label } = this.all.rows;
    return kind[row] === RowKind.node ? `n${label[row]}` : `p${id[row]}`;
  }

  // A process with one thread is that thread.
  private isGroup(row: number): boolean {
    const { kind, threads } = this.all.rows;
    return (
      kind[row] !== RowKind.thread &&
      (kind[row] === RowKind.node || (threads[row] ?? 0) > 1) &&
      (this.children[row] ?? 0) > 0
    );
  }

  private isOpen(row: number): boolean {
    const { kind, label } = this.all.rows;
    const atFirst = kind[row] === RowKind.node || label.length <= OPEN_MAX;
    return atFirst !== this.folded.has(this.key(row));
  }

  private layOut(): void {
    const { parent, kind } = this.all.rows;
    const isSeen: boolean[] = [];
    this.lanes = [];
    this.height = 0;
    for (let row = 0; row < parent.length; ++row) {
      const above = parent[row] ?? -1;
      isSeen[row] = above < 0 || (isSeen[above] === true && this.isGroup(above) && this.isOpen(above));
      if (isSeen[row] === true) {
        const height = HEIGHT[kind[row] ?? RowKind.thread];
        this.lanes.push({
          row,
          top: this.height,
          height,
          depth: kind[row] ?? 0,
          isOpen: this.isGroup(row) ? this.isOpen(row) : null,
        });
        this.height += height;
      }
    }
  }

  fold(row: number): void {
    if (this.isGroup(row)) {
      const key = this.key(row);
      if (!this.folded.delete(key)) {
        this.folded.add(key);
      }
      this.layOut();
    }
  }

  foldAll(isOpen: boolean): void {
    this.folded.clear();
    this.all.rows.kind.forEach((kind, row) => {
      if (kind === RowKind.process && this.isGroup(row) && this.isOpen(row) !== isOpen) {
        this.folded.add(this.key(row));
      }
    });
    this.layOut();
  }
}
