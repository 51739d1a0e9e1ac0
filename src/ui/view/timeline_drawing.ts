// The timeline as it is drawn: an axis, a lane per row with its runs, gaps, what is selected, where bytes went.
//
//   │ host         │▁▂▃▅▅▃▂▁▁   ////// ▂▂▅▇│   a group: how many of its threads were in a call, as logarithm
//   │  postgres[9] │▏▏██ ▏▏  ▏███▏   ▏▏    │   a thread: its calls. Full colour is what ran, pale what waited
//
// The last picture stands for the time until the next one is there: it is stretched and moved to where its time is now.

import type { TimelineFlow, TimelineGap } from "../generated/api";
import type { Side } from "../client/client";
import { ERROR, flagsOf, RowKind, UNFINISHED, type Colouring, type Picture } from "../client/timeline";
import type { Lane, LaneList } from "../model/lanes";
import type { TimeSpan } from "../model/time_span";
import { CLASSES, colour, theme } from "../model/theme";
import { momentText, niceStep } from "../model/words";
import { harmless } from "./elements";
import type { Letters, Renderer } from "./renderer";

export const LABELS = 210,
  AXIS = 26;
const MIDDLE: Letters = { isMiddle: true };
const LABELLED_MIN = 44; // pixels of a slice that has words
const LATENCIES = ["< 1 µs", "< 10 µs", "< 100 µs", "< 1 ms", "< 10 ms", "< 100 ms", "< 1 s", "≥ 1 s"];
const LATENCY_COLOURS = {
  light: ["#cfd4da", "#fde0a6", "#f7b95b", "#e8862e", "#cf5b2e", "#a8324a", "#7a1f6a", "#45105e"],
  dark: ["#4b5159", "#6b5a2e", "#97762c", "#c98a2b", "#e8862e", "#f06a4e", "#ee5c8f", "#d58bff"],
};

// How large a canvas is.
export interface Room {
  width: number;
  height: number;
  top: number; // how far it is scrolled
}

// What is known of a call; times are nanoseconds.
export interface Exact {
  at: number;
  duration: number | null; // null: it never returned, or nobody saw its begin
  ran: number | null; // of its duration; null: not known
}

export interface Drawing extends Room {
  side: Side; // of two traces
  lanes: LaneList;
  span: TimeSpan;
  picture: Picture | null;
  colouring: Colouring;
  selection: { from?: number; to?: number };
  brush: TimeSpan | null; // being drawn
  row: number; // where the keyboard is
  run: { row: number; begin: number; end: number } | null; // what was chosen
  targets: Map<string, string>; // of events: on what
  exact: Map<string, Exact>; // of events: when, and for how long
  flows: TimelineFlow[];
}

// A colour, and a paler one on the panel of this theme.
type Shades = [solid: string, pale: string];

function paler(hex: string): string {
  const ground = Number.parseInt(colour("panel").slice(1), 16),
    ink = Number.parseInt(hex.slice(1), 16);
  const mixed = [16, 8, 0].map((shift) => Math.round(0.38 * ((ink >> shift) & 255) + 0.62 * ((ground >> shift) & 255)));
  return `#${mixed.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

const hues = (): string[] => {
  const light = theme() === "dark" ? [0.62, 0.72] : [0.36, 0.5]; // by turns, for those who see few hues
  return Array.from({ length: 12 }, (_, index) => hslHex(((index * 5) % 12) * 30, 0.62, light[index % 2] ?? 0.5));
};

function hslHex(hue: number, saturation: number, light: number): string {
  const part = (n: number): string => {
    const k = (n + hue / 30) % 12;
    const value = light - saturation * Math.min(light, 1 - light) * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return Math.round(value * 255)
      .toString(16)
      .padStart(2, "0");
  };
  return `#${part(0)}${part(8)}${part(4)}`;
}

const CLASS_ORDER = ["other", "file", "metadata", "network", "pipe", "process", "memory", "wait", "block"]; // as schema numbers them

// The index is the number of a run's colour.
function colours(colouring: Colouring): string[] {
  switch (colouring) {
    case "class":
      return CLASS_ORDER.map(colour);
    case "latency":
      return LATENCY_COLOURS[theme()];
    case "content":
      return [colour("wait"), ...hues()];
  }
}

export function legend(colouring: Colouring): [string, string][] {
  const of = colours(colouring);
  switch (colouring) {
    case "class":
      return CLASSES.map((name) => [name, of[CLASS_ORDER.indexOf(name)] ?? "#888888"]);
    case "latency":
      return LATENCIES.map((words, index) => [words, of[index] ?? "#888888"]);
    case "content":
      return [
        ["no content", of[0] ?? "#888888"],
        ["same colour, same content (12 colours)", of[1] ?? "#888888"],
      ];
  }
}

type Axis = Pick<Drawing, "span" | "width">;

export const xOf = (drawing: Axis, at: number): number =>
  LABELS + ((at - drawing.span.from) / (drawing.span.to - drawing.span.from)) * (drawing.width - LABELS);
export const timeAt = (drawing: Axis, x: number): number =>
  drawing.span.from + ((x - LABELS) / (drawing.width - LABELS)) * (drawing.span.to - drawing.span.from);
export const yOf = (drawing: Drawing, lane: Lane): number => AXIS + lane.top - drawing.top;

// Turns pixels of the picture into pixels here: x = add + factor * x0.
export function scaleOf(drawing: Drawing, picture: Picture): { add: number; factor: number } {
  const { from, to, width } = picture.asked;
  return { add: xOf(drawing, from), factor: (xOf(drawing, to) - xOf(drawing, from)) / width };
}

export function draw(renderer: Renderer, drawing: Drawing): void {
  drawGround(renderer, drawing);
  drawRuns(renderer, drawing);
  drawWords(renderer, drawing);
  drawFlows(renderer, drawing);
  drawLabels(renderer, drawing, lanesInView(drawing));
  drawAxis(renderer, drawing);
}

function lanesInView({ lanes, top, height }: Drawing): Lane[] {
  const [first, end] = lanes.between(top, top + height - AXIS);
  return lanes.lanes.slice(first, end);
}

export function drawGround(renderer: Renderer, drawing: Drawing): void {
  renderer.rect(0, 0, drawing.width, drawing.height, colour("panel"));
  drawSelection(renderer, drawing);
}

// Before anything that is no rectangle: of these there are most, and a renderer paints them faster then.
export function drawRuns(renderer: Renderer, drawing: Drawing): void {
  const ink: Shades[] = colours(drawing.colouring).map((solid) => [solid, paler(solid)]);
  lanesInView(drawing).forEach((lane) => drawLane(renderer, drawing, lane, ink));
}

// What stands in wide calls, what was chosen, and where events are missing.
export function drawWords(renderer: Renderer, drawing: Drawing): void {
  const lanes = lanesInView(drawing);
  lanes.forEach((lane) => drawLaneWords(renderer, drawing, lane));
  drawGaps(renderer, drawing, lanes);
}

function drawSelection(renderer: Renderer, drawing: Drawing): void {
  const { from, to } = drawing.selection;
  const mark = (begin: number, end: number): void => {
    const x0 = Math.max(xOf(drawing, begin), LABELS),
      x1 = Math.min(xOf(drawing, end), drawing.width);
    if (x1 > x0) {
      renderer.rect(x0, AXIS, x1 - x0, drawing.height, colour("mark") + "22");
      renderer.rect(x0, 0, Math.max(x1 - x0, 1), 3, colour("mark"));
    }
  };
  if (from !== undefined || to !== undefined) {
    mark(from ?? drawing.span.from, to ?? drawing.span.to);
  }
  if (drawing.brush !== null) {
    mark(drawing.brush.from, drawing.brush.to);
  }
}

// Runs come in order of their begin: the first that begins there or later.
function firstFrom(begins: Float32Array, first: number, end: number, x: number): number {
  let low = first,
    high = end;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((begins[middle] ?? 0) < x) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Runs of a lane that are in view, with their edges.
function eachRun(
  drawing: Drawing,
  lane: Lane,
  take: (picture: Picture, run: number, x0: number, x1: number) => void,
): void {
  const { picture } = drawing;
  const runs = picture?.runsOf.get(lane.row);
  if (picture === null || runs === undefined) {
    return;
  }
  const { add, factor } = scaleOf(drawing, picture),
    { x0: begins, x1: ends } = picture;
  for (
    let run = firstFrom(begins, runs.begin, runs.end, (LABELS - add) / factor - runs.longest);
    run < runs.end;
    ++run
  ) {
    const begin = add + factor * (begins[run] ?? 0),
      x1 = Math.min(add + factor * (ends[run] ?? 0), drawing.width);
    if (begin > drawing.width) {
      break;
    }
    if (x1 >= LABELS) {
      take(picture, run, Math.max(begin, LABELS), x1);
    }
  }
}

function drawLane(renderer: Renderer, drawing: Drawing, lane: Lane, ink: Shades[]): void {
  const y = yOf(drawing, lane),
    inner = lane.height - 4,
    base = y + lane.height - 2;
  if (lane.row === drawing.row) {
    renderer.rect(LABELS, y, drawing.width - LABELS, lane.height, colour("mark") + "14");
  }
  renderer.rect(LABELS, y + lane.height - 1, drawing.width - LABELS, 1, colour("line"));
  const unit = inner / 255,
    error = colour("bad"),
    waits = paler(colour("wait")),
    panel = colour("panel");
  eachRun(drawing, lane, ({ look }, run, x0, x1) => {
    const width = Math.max(x1 - x0, 1),
      at = 4 * run;
    const [solid, pale] = ink[(look[at] ?? 0) & 15] ?? ["#888888", "#cccccc"],
      flags = flagsOf(look, run);
    const fill = Math.max((look[at + 1] ?? 0) * unit, 1),
      work = (look[at + 2] ?? 0) * unit,
      ran = (look[at + 3] ?? 0) * unit;
    if (fill > work) {
      renderer.rect(x0, base - fill, width, fill - work, waits);
    }
    if (work > ran) {
      renderer.rect(x0, base - work, width, work - ran, pale);
    }
    if (ran > 0) {
      renderer.rect(x0, base - ran, width, ran, solid);
    }
    if ((flags & ERROR) !== 0) {
      renderer.rect(x0, y + 1, Math.max(width, 2), 3, error);
    }
    if ((flags & UNFINISHED) !== 0 && width > 6) {
      for (let notch = 0; notch < inner; notch += 4) {
        renderer.rect(x1 - 4, base - notch - 2, 4, 2, panel);
      }
    }
  });
}

function drawLaneWords(renderer: Renderer, drawing: Drawing, lane: Lane): void {
  const y = yOf(drawing, lane),
    base = y + lane.height - 2;
  eachRun(drawing, lane, ({ look, singleOf }, run, x0, x1) => {
    if (x1 - x0 > LABELLED_MIN && singleOf[run] !== -1) {
      drawCallWords(renderer, drawing, run, x0 + 4, y + lane.height / 2, x1 - x0 - 6, (look[4 * run + 3] ?? 0) > 127);
    }
  });
  if (drawing.run?.row === lane.row) {
    const mark = { colour: colour("text"), width: 2 };
    const x0 = Math.max(xOf(drawing, drawing.run.begin), LABELS),
      x1 = Math.max(xOf(drawing, drawing.run.end), x0 + 2);
    for (const edge of [y + 1, base]) {
      renderer.line(x0 - 1, edge, x1 + 1, edge, mark);
    }
    renderer.line(x0 - 1, y + 1, x0 - 1, base, mark);
    renderer.line(x1 + 1, y + 1, x1 + 1, base, mark);
  }
}

function drawCallWords(
  renderer: Renderer,
  drawing: Drawing,
  run: number,
  x: number,
  y: number,
  width: number,
  isSolid: boolean,
): void {
  const { picture } = drawing;
  const single = picture?.singleOf[run] ?? -1;
  const name = drawing.lanes.all.names[picture?.names[single] ?? 0] ?? "";
  const target = drawing.targets.get(String(picture?.events[single] ?? ""));
  const waits = isSolid ? "" : target === undefined ? " · waits" : " · waits on";
  const words = target === undefined ? name + waits : `${name}${waits} ${target}`;
  renderer.text(x, y, harmless(words), { colour: colour(isSolid ? "ground" : "text") }, { ...MIDDLE, room: width });
}

export function gapsOf(drawing: Drawing, row: number): TimelineGap[] {
  const host = drawing.lanes.all.rows.host[row];
  return drawing.lanes.all.gaps.filter(
    (gap) => gap.host === host && gap.begin <= drawing.span.to && gap.end >= drawing.span.from,
  );
}

function drawGaps(renderer: Renderer, drawing: Drawing, lanes: Lane[]): void {
  const byHost = new Map<number | undefined, TimelineGap[]>();
  for (const lane of lanes) {
    const host = drawing.lanes.all.rows.host[lane.row];
    const gaps = byHost.get(host) ?? gapsOf(drawing, lane.row);
    byHost.set(host, gaps);
    for (const gap of gaps) {
      const x0 = Math.max(xOf(drawing, gap.begin), LABELS),
        x1 = Math.min(xOf(drawing, gap.end), drawing.width);
      renderer.hatch(x0, yOf(drawing, lane), Math.max(x1 - x0, 2), lane.height - 1);
    }
  }
}

function drawFlows(renderer: Renderer, drawing: Drawing): void {
  for (const flow of drawing.flows) {
    const from = drawing.lanes.of(flow.from_row),
      to = drawing.lanes.of(flow.to_row);
    if (from !== null && to !== null) {
      const width = Math.min(1 + Math.log2(flow.count) / 2, 5);
      const ink = colour(flow.is_certain ? "text" : "faint") + (flow.count > 1 ? "66" : "cc");
      const x0 = Math.min(Math.max(xOf(drawing, flow.from), LABELS), drawing.width),
        x1 = Math.min(Math.max(xOf(drawing, flow.to), LABELS), drawing.width);
      renderer.curve(x0, yOf(drawing, from) + from.height / 2, x1, yOf(drawing, to) + to.height / 2, {
        colour: ink,
        width,
      });
    }
  }
}

function drawLabels(renderer: Renderer, drawing: Drawing, lanes: Lane[]): void {
  renderer.rect(0, AXIS, LABELS, drawing.height, colour("ground"));
  const { label, kind, threads } = drawing.lanes.all.rows;
  for (const lane of lanes) {
    const y = yOf(drawing, lane),
      middle = y + lane.height / 2,
      x = 22 + lane.depth * 14;
    if (lane.row === drawing.row) {
      renderer.rect(0, y, LABELS, lane.height, colour("mark") + "33");
    }
    if (lane.isOpen !== null) {
      renderer.text(x - 16, middle, lane.isOpen ? "▾" : "▸", { colour: colour("text") }, MIDDLE);
    }
    const count =
      kind[lane.row] === RowKind.thread || (threads[lane.row] ?? 1) === 1
        ? ""
        : ` · ${(threads[lane.row] ?? 0).toLocaleString("en")} threads`;
    renderer.text(
      x,
      middle,
      harmless(label[lane.row] ?? "") + count,
      { colour: colour(kind[lane.row] === RowKind.thread ? "faint" : "text") },
      { ...MIDDLE, room: LABELS - x - 4 },
    );
    renderer.rect(0, y + lane.height - 1, LABELS, 1, colour("line"));
  }
  renderer.rect(LABELS - 1, 0, 1, drawing.height, colour("line"));
}

export function drawAxis(renderer: Renderer, drawing: Drawing): void {
  renderer.rect(0, 0, drawing.width, AXIS, colour("ground"));
  const { from, to } = drawing.span,
    ink = { colour: colour("faint") };
  const step = niceStep(to - from, Math.max((drawing.width - LABELS) / 130, 2));
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    const x = xOf(drawing, at);
    renderer.line(x, AXIS - 6, x, AXIS, ink);
    renderer.text(x + 4, AXIS / 2, momentText(at, step), ink, MIDDLE);
  }
  renderer.rect(0, AXIS - 1, drawing.width, 1, colour("line"));
  renderer.text(8, AXIS / 2, "node › process › thread", ink, { ...MIDDLE, room: LABELS });
}
