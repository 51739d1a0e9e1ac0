// What the server says of a timeline: its rows as JSON, a picture of them as arrays. src/api/timeline/timeline_answer.h has the format.

import type { PictureQuestion, Progress, TimelineFlows, TimelineFlowsQuestion, TimelineRows } from "../generated/api";
import { ask, askBytes, type Side } from "./client";

export enum RowKind {
  node,
  process,
  thread,
}

export type Colouring = PictureQuestion["colour"];

export const ERROR = 1,
  UNFINISHED = 2,
  SINGLE = 4; // flags of a run
export const flagsOf = (look: Uint8Array, run: number): number => (look[4 * run] ?? 0) >> 4;

// Runs of rows: of run i look[4 i] is the colour and 16 times the flags; heights, to 255, are look[4 i + 1] for all calls, look[4 i + 2] for those that
// do more than wait for whatever comes, look[4 i + 3] for what of these ran.
export interface Picture {
  asked: PictureQuestion;
  revision: number;
  runsOf: Map<number, { begin: number; end: number; longest: number }>; // by row; pixels of the longest
  x0: Float32Array; // pixels after asked.from
  x1: Float32Array;
  count: Uint32Array;
  look: Uint8Array;
  singleOf: Int32Array; // by run: which of the next two; -1: it is more than one event
  events: BigUint64Array;
  names: Uint16Array;
}

export const askFlows = (question: TimelineFlowsQuestion, signal: AbortSignal): Promise<TimelineFlows> =>
  ask("timeline_flows", question, signal);

export const askTimelineRows = (where: string, signal: AbortSignal, side: Side = "this"): Promise<TimelineRows> =>
  ask("timeline_rows", { where }, signal, side);
export const askTimelineProgress = (where: string): Promise<Progress> => ask("timeline_progress", { where });

export function pictureIn(bytes: ArrayBuffer, asked: PictureQuestion): Picture {
  const HEAD = 24;
  const [magic = 0, version = 0, revision = 0, rows = 0, runs = 0, singles = 0] = new Uint32Array(bytes, 0, HEAD / 4);
  if (magic !== 0x4c545444 || version !== 1) {
    throw new Error("the server draws timelines in another way than this page: load the page anew");
  }
  let at = HEAD;
  const next = <Numbers>(
    make: new (bytes: ArrayBuffer, at: number, length: number) => Numbers,
    length: number,
    size: number,
  ): Numbers => {
    const numbers = new make(bytes, at, length);
    at += length * size;
    return numbers;
  };
  const row = next(Uint32Array, rows, 4),
    runsOfRow = next(Uint32Array, rows, 4);
  const x0 = next(Float32Array, runs, 4),
    x1 = next(Float32Array, runs, 4),
    count = next(Uint32Array, runs, 4),
    look = next(Uint8Array, 4 * runs, 1);
  const events = next(BigUint64Array, singles, 8),
    names = next(Uint16Array, singles, 2);
  const singleOf = new Int32Array(runs).fill(-1);
  for (let run = 0, single = 0; run < runs; ++run) {
    if ((flagsOf(look, run) & SINGLE) !== 0) {
      singleOf[run] = single++;
    }
  }
  const runsOf = new Map<number, { begin: number; end: number; longest: number }>();
  for (let i = 0, begin = 0; i < rows; ++i) {
    const end = begin + (runsOfRow[i] ?? 0);
    let longest = 0;
    for (let run = begin; run < end; ++run) {
      longest = Math.max(longest, (x1[run] ?? 0) - (x0[run] ?? 0));
    }
    runsOf.set(row[i] ?? 0, { begin, end, longest });
    begin = end;
  }
  return { asked, revision, runsOf, x0, x1, count, look, singleOf, events, names };
}

export async function askPicture(
  question: PictureQuestion,
  signal: AbortSignal,
  side: Side = "this",
): Promise<Picture> {
  return pictureIn(await askBytes("timeline", question, signal, side), question);
}
