// Runs of a picture as what people point at: which calls, of which row, from when to when.

import type { Picture } from "../client/timeline";
import type { TimeSpan } from "../model/time_span";
import { LABELS, scaleOf, type Drawing } from "./timeline_drawing";

const WIDE = 90; // pixels of a call into which its target is written

export interface Run {
  row: number;
  index: number; // in the picture
  begin: number; // times
  end: number;
  isCut: boolean; // it begins or ends outside of the picture
  event: string | null; // it is one event
}

export function runAt(picture: Picture, row: number, index: number): Run {
  const { from, to, width } = picture.asked,
    single = picture.singleOf[index] ?? -1;
  const time = (x: number): number => from + (x / width) * (to - from);
  const x0 = picture.x0[index] ?? 0,
    x1 = picture.x1[index] ?? 0;
  return {
    row,
    index,
    begin: time(x0),
    end: time(x1),
    isCut: x0 < 0 || x1 > width,
    event: single < 0 ? null : String(picture.events[single]),
  };
}

// What is drawn last at this place of a row, or three pixels beside it.
export function runUnder(drawing: Drawing, row: number, x: number): Run | null {
  const { picture } = drawing,
    runs = picture?.runsOf.get(row);
  if (picture === null || runs === undefined || x < LABELS) {
    return null;
  }
  const { add, factor } = scaleOf(drawing, picture);
  for (let slack = 0; slack <= 3; slack += 3) {
    for (let run = runs.end - 1; run >= runs.begin; --run) {
      const x0 = add + factor * (picture.x0[run] ?? 0),
        x1 = Math.max(add + factor * (picture.x1[run] ?? 0), x0 + 1);
      if (x >= x0 - slack && x < x1 + slack) {
        return runAt(picture, row, run);
      }
    }
  }
  return null;
}

// The same in another picture; of several calls what is there at their begin.
export function runLike(picture: Picture, { row, event, begin }: Run): Run | null {
  const runs = picture.runsOf.get(row);
  for (let index = runs?.begin ?? 0; index < (runs?.end ?? 0); ++index) {
    const run = runAt(picture, row, index);
    if (event === null ? run.end >= begin : run.event === event) {
      return run;
    }
  }
  return null;
}

// The run that lies so many after another one; without one the first that is in view.
export function runAfter(picture: Picture, row: number, run: Run | null, by: number, span: TimeSpan): Run | null {
  const runs = picture.runsOf.get(row);
  if (runs === undefined || runs.end === runs.begin) {
    return null;
  }
  let next = (run?.index ?? 0) + by;
  if (run === null) {
    next = runs.begin;
    while (next < runs.end - 1 && runAt(picture, row, next).end < span.from) {
      ++next;
    }
  }
  return runAt(picture, row, Math.min(Math.max(next, runs.begin), runs.end - 1));
}

// Calls of these rows that are so wide that what they act on is written into them.
export function wideRuns(drawing: Drawing, rows: number[]): Run[] {
  const { picture } = drawing,
    wide: Run[] = [];
  for (const row of picture === null ? [] : rows) {
    const runs = picture?.runsOf.get(row);
    for (let run = runs?.begin ?? 0; picture !== null && run < (runs?.end ?? 0); ++run) {
      if (
        (picture.singleOf[run] ?? -1) >= 0 &&
        ((picture.x1[run] ?? 0) - (picture.x0[run] ?? 0)) * scaleOf(drawing, picture).factor > WIDE
      ) {
        wide.push(runAt(picture, row, run));
      }
    }
  }
  return wide;
}
