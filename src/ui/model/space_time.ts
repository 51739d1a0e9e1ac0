// What space-time shows: lanes (processes or nodes), the calls that moved bytes on them, and where these bytes went.
//
//   cat[812]   ──●────────●─────────   a dot is a call, at the moment when its bytes left (writes) or had come (reads)
//                 ╲        ╲
//   tee[813]   ────○────────○──●────   a line is a flow: bytes of one call that another one had
//
// Time is cluster time, each host's own clock, or the logical order. At most MOVES_MAX calls and LINES_MAX lines between lanes are asked for, on the
// LANES_MAX lanes with most messages; of more, some that are spread evenly.

import type { Cell, Certainty, Selection } from "../generated/api";
import { askRecords, askRows, type Row } from "../client/client";

const LANES_MAX = 40;
const LINES_MAX = 3000;
const MOVES_MAX = 2 * LINES_MAX; // the ends of all lines at least
const INNER_MAX = 6000; // flows within a lane: not drawn, but trails go over them

export type LaneKind = "process" | "node";
export type TimeKind = "cluster" | "raw" | "order";

export interface Asked {
  lanes: LaneKind;
  time: TimeKind;
  isAll: boolean; // calls without flows, too
  begin_ns: string; // of the trace
  window: [number, number] | null; // of x
  event: string | null; // that is shown in any case
}

export interface Lane {
  key: string;
  name: string;
  host: string;
  moves: number; // in the trace
  messages: number;
}

export interface Move {
  id: string;
  lane: number;
  x: number; // nanoseconds from the begin, or the logical order
  at_ns: number;
  verb: string;
  name: string;
  process: string;
  target: string;
  bytes: number;
  fingerprint: string | null;
  dyes: number;
}

export interface Flow {
  from: number; // moves
  to: number;
  from_position: number; // of its first byte among those that the call moved
  to_position: number;
  bytes: number;
  rule: string;
  certainty: Certainty;
}

export interface SpaceTime {
  lanes: Lane[];
  moves: Move[]; // by x
  lines: Flow[]; // between lanes
  inner: Flow[]; // within one
  lanesInAll: number;
  movesInAll: number; // of the shown lanes
  linesInAll: number;
  isCut: boolean;
  span: [number, number]; // of x, of all
}

// One statement finds what is shown, by numbers alone (space_time.sql); what they are called is asked for those that are shown only.
const text = (cell: Cell | undefined): string => String(cell ?? "");

// What the calls were, by their ids.
async function wordsOf(ids: string[], selection: Selection, signal: AbortSignal): Promise<Map<string, Row>> {
  const wanted = { name: "space_time_moves", parameters: { events: ids }, rows_max: ids.length } as const;
  const rows = await askRecords({ ...wanted, selection, signal });
  return new Map(rows.map((row) => [text(row["event_id"]), row]));
}

function movesOf(rows: Cell[][], words: Map<string, Row>, lane: Map<string, number>): Move[] {
  const moves = rows.map(([, id, , x, , , key]) => {
    const { at_ns, verb, name, process, target, bytes, fingerprint = null, dyes } = words.get(text(id)) ?? {};
    return {
      id: text(id),
      lane: lane.get(text(key)) ?? 0,
      x: Number(x),
      at_ns: Number(at_ns),
      verb: text(verb),
      name: text(name),
      process: text(process),
      target: text(target),
      bytes: Number(bytes),
      fingerprint: fingerprint === null ? null : text(fingerprint),
      dyes: Number(dyes),
    };
  });
  return moves.sort((a, b) => a.x - b.x || (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
}

function flowsOf(rows: Cell[][], index: Map<string, number>): Flow[] {
  const flows = rows.flatMap(([, a, b, from_position, to_position, bytes, rule, certainty]) => {
    const [from, to] = [index.get(text(a)), index.get(text(b))];
    return from === undefined || to === undefined
      ? []
      : [
          {
            from,
            to,
            from_position: Number(from_position),
            to_position: Number(to_position),
            bytes: Number(bytes),
            rule: text(rule),
            certainty: text(certainty) as Certainty,
          },
        ];
  });
  return flows.sort((a, b) => a.from - b.from || a.to - b.to || a.from_position - b.from_position);
}

// The lanes are sorted by host, and on each host by when they first moved something.
function lanesOf(rows: Cell[][], moveRows: Cell[][], words: Map<string, Row>, kind: LaneKind): Lane[] {
  const example = new Map(moveRows.map(([, id, , , , , key]) => [text(key), words.get(text(id))]));
  const lanes = rows.map(([, , , moves, messages, first, key, called]) => {
    const word = example.get(text(key));
    return {
      key: text(key),
      name: kind === "node" ? text(key) : text(called ?? word?.["process"] ?? "?"),
      host: text(word?.["host"]),
      moves: Number(moves),
      messages: Number(messages),
      first: Number(first),
    };
  });
  return lanes.sort((a, b) => (a.host < b.host ? -1 : a.host > b.host ? 1 : a.first - b.first));
}

const NOTHING: SpaceTime = {
  lanes: [],
  moves: [],
  lines: [],
  inner: [],
  lanesInAll: 0,
  movesInAll: 0,
  linesInAll: 0,
  isCut: false,
  span: [0, 1],
};

export async function askSpaceTime(asked: Asked, selection: Selection, signal: AbortSignal): Promise<SpaceTime> {
  const [window_begin, window_end] = asked.window ?? [null, null];
  const parameters = {
    ...(asked.time === "raw" ? { begin_ns: asked.begin_ns } : {}),
    lanes: asked.lanes,
    is_all: asked.isAll,
    window_begin: window_begin === null ? null : Math.floor(window_begin),
    window_end: window_end === null ? null : Math.ceil(window_end),
    event: asked.event,
    lanes_max: LANES_MAX,
    lines_max: LINES_MAX,
    inner_max: INNER_MAX,
    moves_max: MOVES_MAX,
  };
  const rows_max = MOVES_MAX + LINES_MAX + INNER_MAX + LANES_MAX + 2;
  const { rows } = await askRows({ name: `space_time_${asked.time}`, parameters, selection, signal, rows_max });
  const of = (kind: string): Cell[][] => rows.filter(([name]) => name === kind);
  const moveRows = of("move"),
    [all] = of("all"),
    [span] = of("span");
  if (moveRows.length === 0 || all === undefined || span === undefined) {
    return NOTHING;
  }
  const words = await wordsOf(
    moveRows.map(([, id]) => text(id)),
    selection,
    signal,
  );
  const lanes = lanesOf(of("lane"), moveRows, words, asked.lanes);
  const moves = movesOf(moveRows, words, new Map(lanes.map(({ key }, at) => [key, at]))),
    index = new Map(moves.map(({ id }, at) => [id, at]));
  const lines = flowsOf(of("line"), index),
    lanesInAll = Number(all[3]),
    linesInAll = Number(all[4]),
    movesInAll = lanes.reduce((sum, lane) => sum + lane.moves, 0);
  return {
    lanes,
    moves,
    lines,
    inner: flowsOf(of("inner"), index),
    lanesInAll,
    movesInAll,
    linesInAll,
    span: [Number(span[3]), Number(span[4])],
    isCut: movesInAll > moves.length || linesInAll > lines.length || lanesInAll > lanes.length,
  };
}
