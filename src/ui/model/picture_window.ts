// Which part of the time a picture is asked for, so that moving on finds it there already. Pictures are asked for with something beside what is in view; who moves
// gets more on the side to which it goes, before the picture ends there.
//
//            │◀── in view ──▶│
//        ├───┼───────────────┼───────────┤     moved to the right: BESIDE, AHEAD
//                                ▲ less than SOON is left: the next one is asked for
//
// A picture that has all that is in view, in the same scale, is what the server would answer: nobody waits for another one.

import type { PictureQuestion } from "../generated/api";
import type { TimeSpan } from "./time_span";

export type Wanted = Omit<PictureQuestion, "from" | "to" | "width"> & {
  span: TimeSpan;
  pixels: number;
  rowsInView: number[];
}; // `rows` are those and some beside

const BESIDE = 0.2,
  AHEAD = 0.8,
  SOON = 0.4; // of what is in view
const WIDTH_MAX = 8192; // pixels of a picture; the server's limit
const SCALE_SLACK = 0.01; // windows begin and end at whole nanoseconds and pixels

// `ahead` is where it goes: -1 to the left, 1 to the right, 0 anywhere.
export function questionFor({ span, pixels, rowsInView: _, ...rest }: Wanted, ahead: number): PictureQuestion {
  const length = span.to - span.from,
    inView = Math.min(Math.max(Math.round(pixels), 1), WIDTH_MAX);
  const room = WIDTH_MAX / inView - 1,
    before = ahead < 0 ? AHEAD : BESIDE,
    after = ahead > 0 ? AHEAD : BESIDE;
  const share = Math.min(1, room / (before + after));
  const from = Math.max(Math.floor(span.from - before * share * length), 0),
    to = Math.ceil(span.to + after * share * length);
  return { ...rest, from, to, width: Math.min(Math.max(Math.round(((to - from) / length) * inView), 1), WIDTH_MAX) };
}

function isSame(asked: PictureQuestion, wanted: Wanted): boolean {
  const scale = Math.min(wanted.pixels, WIDTH_MAX) / (wanted.span.to - wanted.span.from);
  return (
    asked.where === wanted.where &&
    asked.revision === wanted.revision &&
    asked.colour === wanted.colour &&
    Math.abs(asked.width / (asked.to - asked.from) / scale - 1) < SCALE_SLACK
  );
}

function reaches(asked: PictureQuestion, from: number, to: number, rows: number[]): boolean {
  const has = new Set(asked.rows);
  return asked.from <= Math.max(Math.floor(from), 0) && asked.to >= to && rows.every((row) => has.has(row));
}

// It has all that is in view.
export const isWhole = (asked: PictureQuestion, wanted: Wanted): boolean =>
  isSame(asked, wanted) && reaches(asked, wanted.span.from, wanted.span.to, wanted.rowsInView);

// It has more than that, on the side to which it goes and of the rows beside.
export function isAmple(asked: PictureQuestion, wanted: Wanted, ahead: number): boolean {
  const { from, to } = wanted.span,
    soon = Math.min(SOON, WIDTH_MAX / wanted.pixels - 1) * (to - from);
  return (
    isSame(asked, wanted) && reaches(asked, ahead < 0 ? from - soon : from, ahead > 0 ? to + soon : to, wanted.rows)
  );
}
