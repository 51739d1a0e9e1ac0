// Space-time as strokes of a renderer: where each lane and moment lies, what is drawn there, and what lies under the pointer.

import type { Flow, Move, SpaceTime, TimeKind } from "../model/space_time";
import type { Walked } from "../model/walk";
import { colour } from "../model/theme";
import { momentText, niceStep } from "../model/words";
import { harmless } from "./elements";
import type { Ink, Renderer } from "./renderer";
import { DASHES } from "./trail_picture";

const AXIS = 24,
  EDGE = 14,
  NAMES_ACROSS = 190,
  NAMES_DOWN = 44,
  TIMES_DOWN = 92; // pixels
const LANE_MIN = 24,
  LANE_MAX = 84,
  LANE_MIN_DOWN = 64;
const RADIUS = 4,
  NEAR = 7,
  FADED = 0.12;
const TIPS_MAX = 400; // lines with an arrow: more are a cloud

export interface Frame {
  isDown: boolean;
  width: number;
  height: number;
  plot: { x: number; y: number; width: number; height: number };
  laneSize: number;
  window: [number, number];
}

export function frameOf(
  lanes: number,
  room: { width: number; height: number },
  window: [number, number],
  isDown: boolean,
): Frame {
  if (isDown) {
    const laneSize = Math.max((room.width - TIMES_DOWN - EDGE) / lanes, LANE_MIN_DOWN),
      height = Math.max(room.height, 360);
    const plot = { x: TIMES_DOWN, y: NAMES_DOWN, width: laneSize * lanes, height: height - NAMES_DOWN - EDGE };
    return { isDown, width: plot.x + plot.width + EDGE, height, plot, laneSize, window };
  }
  const laneSize = Math.min(Math.max((room.height - AXIS - EDGE) / lanes, LANE_MIN), LANE_MAX);
  const plot = { x: NAMES_ACROSS, y: AXIS, width: room.width - NAMES_ACROSS - EDGE, height: laneSize * lanes };
  return { isDown, width: room.width, height: plot.y + plot.height + EDGE, plot, laneSize, window };
}

export const lengthOf = ({ isDown, plot }: Frame): number => (isDown ? plot.height : plot.width);

export function pixelOf(frame: Frame, x: number): number {
  const share = (x - frame.window[0]) / (frame.window[1] - frame.window[0]);
  return (frame.isDown ? frame.plot.y : frame.plot.x) + share * lengthOf(frame);
}

export function momentAt(frame: Frame, pixel: number): number {
  const share = (pixel - (frame.isDown ? frame.plot.y : frame.plot.x)) / lengthOf(frame);
  return frame.window[0] + share * (frame.window[1] - frame.window[0]);
}

function pointOf(frame: Frame, move: Move): [number, number] {
  const along = pixelOf(frame, move.x),
    across = (frame.isDown ? frame.plot.x : frame.plot.y) + (move.lane + 0.5) * frame.laneSize;
  return frame.isDown ? [across, along] : [along, across];
}

export interface Picture {
  data: SpaceTime;
  time: TimeKind;
  colourOf(move: Move): string;
  walked: Walked | null; // what stays coloured
  chosen: number | null; // a move
  hovered: Datum | null;
}

export interface Datum {
  move: number;
  flow: Flow | null; // it is the line that is meant
}

const axisText = (time: TimeKind, x: number, step: number): string =>
  time === "order" ? (Math.round(x) || 0).toLocaleString("en") : momentText(x, step);

function drawAxis(renderer: Renderer, frame: Frame, time: TimeKind): void {
  const { plot, window, isDown } = frame;
  const step = niceStep(window[1] - window[0], lengthOf(frame) / (isDown ? 46 : 120));
  const ink = { colour: colour("line") };
  for (let x = Math.ceil(window[0] / step) * step; x <= window[1]; x += step) {
    const at = pixelOf(frame, x),
      words = axisText(time, x, step);
    if (isDown) {
      renderer.line(plot.x, at, plot.x + plot.width, at, ink);
      renderer.text(plot.x - 8, at + 4, words, { colour: colour("faint") }, { size: 11, anchor: "end" });
    } else {
      renderer.line(at, plot.y, at, plot.y + plot.height, ink);
      renderer.text(at, plot.y - 8, words, { colour: colour("faint") }, { size: 11, anchor: "middle" });
    }
  }
}

const fitting = (words: string, room: number): string => {
  const letters = Math.max(Math.floor(room / 6.6), 4);
  return words.length <= letters ? words : "…" + words.slice(words.length - letters + 1);
};

function drawLanes(renderer: Renderer, frame: Frame, data: SpaceTime): void {
  const { plot, laneSize, isDown } = frame,
    ink = { colour: colour("faint"), alpha: 0.5 };
  data.lanes.forEach((lane, index) => {
    const name = harmless(lane.name),
      middle = (isDown ? plot.x : plot.y) + (index + 0.5) * laneSize;
    if (isDown) {
      const isTwo = laneSize < 110; // names stand at two heights where lanes are narrow
      renderer.line(middle, plot.y, middle, plot.y + plot.height, ink);
      renderer.text(
        middle,
        plot.y - (isTwo && index % 2 === 0 ? 26 : 10),
        fitting(name, laneSize * (isTwo ? 1.9 : 1)),
        { colour: colour("text") },
        { anchor: "middle" },
      );
    } else {
      renderer.line(plot.x, middle, plot.x + plot.width, middle, ink);
      renderer.text(plot.x - 10, middle + 4, fitting(name, plot.x - 16), { colour: colour("text") }, { anchor: "end" });
    }
  });
}

function drawTip(renderer: Renderer, from: [number, number], to: [number, number], ink: Ink): void {
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
  if (length < 16) {
    return;
  }
  const [dx, dy] = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
  const [x, y] = [to[0] - dx * (RADIUS + 1), to[1] - dy * (RADIUS + 1)];
  renderer.shape(
    [
      [x, y],
      [x - dx * 7 - dy * 3, y - dy * 7 + dx * 3],
      [x - dx * 7 + dy * 3, y - dy * 7 - dx * 3],
    ],
    { ...ink, width: 0.5, dash: "", fill: ink.colour },
  );
}

function drawLine(renderer: Renderer, frame: Frame, picture: Picture, flow: Flow, hasTip: boolean): void {
  const [from, to] = [picture.data.moves[flow.from], picture.data.moves[flow.to]];
  if (
    from === undefined ||
    to === undefined ||
    Math.max(from.x, to.x) < frame.window[0] ||
    Math.min(from.x, to.x) > frame.window[1]
  ) {
    return;
  }
  const isOn = picture.walked === null || picture.walked.flows.has(flow),
    isHovered = picture.hovered?.flow === flow;
  const ink = {
    colour: isOn ? picture.colourOf(from) : colour("line"),
    alpha: isOn ? 0.9 : 0.4,
    width: isHovered ? 3 : 1.4,
    dash: DASHES[flow.certainty],
  };
  const [a, b] = [pointOf(frame, from), pointOf(frame, to)];
  renderer.line(a[0], a[1], b[0], b[1], ink);
  if (hasTip && isOn) {
    drawTip(renderer, a, b, ink);
  }
}

// Sent or written: full. Received or read: a ring. With a dye in it: a second ring.
function drawMove(renderer: Renderer, frame: Frame, picture: Picture, move: Move, index: number): void {
  if (move.x < frame.window[0] || move.x > frame.window[1]) {
    return;
  }
  const { walked } = picture,
    [x, y] = pointOf(frame, move),
    ink = picture.colourOf(move);
  const isOn = walked === null || walked.forward.has(index) || walked.back.has(index);
  const isHovered = picture.hovered?.flow === null && picture.hovered.move === index;
  const alpha = isOn ? 1 : FADED;
  renderer.disc(x, y, isHovered ? RADIUS + 2 : RADIUS, {
    colour: isOn ? ink : colour("faint"),
    alpha,
    width: 1.6,
    fill: move.verb === "read" ? colour("panel") : isOn ? ink : colour("faint"),
  });
  if (move.dyes > 0) {
    renderer.disc(x, y, RADIUS + 3.5, { colour: colour("bad"), alpha, width: 1.4 });
  }
  if (picture.chosen === index) {
    renderer.disc(x, y, RADIUS + 6, { colour: colour("text"), width: 2 });
  }
}

const isLit = (picture: Picture, flow: Flow): boolean => picture.walked?.flows.has(flow) === true;

export function drawSpaceTime(renderer: Renderer, frame: Frame, picture: Picture): void {
  const { plot } = frame,
    { lines, moves } = picture.data;
  drawAxis(renderer, frame, picture.time);
  drawLanes(renderer, frame, picture.data);
  renderer.within(plot.x - EDGE, plot.y - EDGE, plot.width + 2 * EDGE, plot.height + 2 * EDGE, () => {
    const visible = lines.filter(
      (flow) => (moves[flow.from]?.x ?? 0) <= frame.window[1] && (moves[flow.to]?.x ?? 0) >= frame.window[0],
    ).length;
    const hasTips = visible <= TIPS_MAX;
    lines.filter((flow) => !isLit(picture, flow)).forEach((flow) => drawLine(renderer, frame, picture, flow, hasTips));
    lines.filter((flow) => isLit(picture, flow)).forEach((flow) => drawLine(renderer, frame, picture, flow, true));
    moves.forEach((move, index) => drawMove(renderer, frame, picture, move, index));
  });
}

function distanceTo([x, y]: [number, number], [x1, y1]: [number, number], [x2, y2]: [number, number]): number {
  const length2 = (x2 - x1) ** 2 + (y2 - y1) ** 2;
  const share = length2 === 0 ? 0 : Math.min(Math.max(((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / length2, 0), 1);
  return Math.hypot(x - x1 - share * (x2 - x1), y - y1 - share * (y2 - y1));
}

// What lies nearest to the pointer, if anything is near: a dot before a line.
export function datumAt(frame: Frame, data: SpaceTime, at: [number, number]): Datum | null {
  let best: Datum | null = null,
    least = NEAR;
  data.moves.forEach((move, index) => {
    const [x, y] = pointOf(frame, move),
      distance = Math.hypot(x - at[0], y - at[1]);
    if (distance < least) {
      [best, least] = [{ move: index, flow: null }, distance];
    }
  });
  if (best !== null) {
    return best;
  }
  for (const flow of data.lines) {
    const [from, to] = [data.moves[flow.from], data.moves[flow.to]];
    const distance =
      from === undefined || to === undefined ? NEAR : distanceTo(at, pointOf(frame, from), pointOf(frame, to));
    if (distance < least) {
      [best, least] = [{ move: flow.from, flow }, distance];
    }
  }
  return best;
}
