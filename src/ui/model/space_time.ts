// What space-time shows: lanes (processes or nodes), the calls that moved bytes on them, and where these bytes went.
//
//   cat[812]   ──●────────●─────────   a dot is a call, at the moment when its bytes left (writes) or had come (reads)
//                 ╲        ╲
//   tee[813]   ────○────────○──●────   a line is a flow: bytes of one call that another one had
//
// Time is cluster time, each host's own clock, or the logical order. At most MOVES_MAX calls and LINES_MAX lines between lanes are asked for, on the
// LANES_MAX lanes with most messages; of more, some that are spread evenly.

import { askRows, type Cell, type Selection } from "../client/client";
import type { Certainty } from "../client/trail";

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

const OWN_MOMENT = "CASE WHEN verb = 'read' THEN coalesce(duration_ns, 0)::BIGINT ELSE 0 END"; // bytes have come when a read ends
const X: Record<TimeKind, (begin_ns: string) => string> = {
  cluster: () => `at_ns + ${OWN_MOMENT}`,
  raw: (begin_ns) =>
    `(start_ns::HUGEINT + (SELECT c.wall FROM clocks c WHERE c.host = s.host) - ${BigInt(begin_ns)}::HUGEINT)::BIGINT + ${OWN_MOMENT}`,
  order: () => "logical_order(event_id)::BIGINT",
};

// One statement finds what is shown, by numbers alone: what they are called is asked for those that are shown only. `moved` and `flowing` are made once.
function before(asked: Asked): string {
  const lane = asked.lanes === "node" ? "coalesce(node, host)" : "process_id::VARCHAR";
  const window =
    asked.window === null ? "" : ` AND x BETWEEN ${Math.floor(asked.window[0])} AND ${Math.ceil(asked.window[1])}`;
  const clocks =
    asked.time === "raw"
      ? "clocks AS (SELECT host, min_by(wall_ns::HUGEINT - boot_ns::HUGEINT, boot_ns) AS wall FROM clock_snapshots GROUP BY host), "
      : "";
  return (
    `WITH ${clocks}moved AS MATERIALIZED (SELECT event_id, ${lane} AS lane, ${X[asked.time](asked.begin_ns)} AS x FROM selected s WHERE bytes > 0 AND verb IN ('read', 'wrote', 'copied')${window}), ` +
    `flowing AS MATERIALIZED (SELECT f.from_event, f.to_event, f.from_position, f.to_position, f.bytes, f.rule, f.certainty, a.lane AS from_lane, b.lane AS to_lane ` +
    `FROM flows f JOIN moved a ON a.event_id = f.from_event JOIN moved b ON b.event_id = f.to_event), ` +
    `shown AS (SELECT event_id, lane, x FROM moved${asked.isAll ? "" : " WHERE event_id IN (SELECT from_event FROM flowing UNION ALL SELECT to_event FROM flowing)"}), `
  );
}

// The busiest lanes, each with those that it speaks with: a lane counts as much as the busiest one that it speaks with.
const LANES =
  `spoken AS (SELECT lane, other, count(*) AS messages FROM (SELECT from_lane AS lane, to_lane AS other FROM flowing WHERE from_lane <> to_lane UNION ALL SELECT to_lane, from_lane FROM flowing WHERE from_lane <> to_lane) GROUP BY ALL), ` +
  `busy AS (SELECT lane, sum(messages)::BIGINT AS messages FROM spoken GROUP BY lane), ` +
  `ranked AS (SELECT s.lane, any_value(own.messages) AS messages, max(p.messages) AS best, arg_max(s.other, (p.messages, s.other)) AS partner ` +
  `FROM spoken s JOIN busy own ON own.lane = s.lane JOIN busy p ON p.lane = s.other GROUP BY s.lane), ` +
  `found AS (SELECT lane, count(*) AS moves, min(x) AS first, max(x) AS last FROM shown GROUP BY lane), ` +
  `lanes AS MATERIALIZED (SELECT f.lane, f.moves, coalesce(r.messages, 0) AS messages, f.first FROM found f LEFT JOIN ranked r ON r.lane = f.lane ` +
  `ORDER BY greatest(r.messages, r.best) DESC NULLS LAST, CASE WHEN r.best > r.messages THEN r.partner WHEN r.best = r.messages THEN least(f.lane, r.partner) ELSE f.lane END, ` +
  `messages DESC, moves DESC, f.lane LIMIT ${LANES_MAX}), `;

// Spread evenly, and the same each time.
const flowsOfLanes = (condition: string, most: number): string =>
  `SELECT from_event, to_event, from_position, to_position, bytes, rule, certainty FROM flowing WHERE from_lane IN (SELECT lane FROM lanes) AND to_lane IN (SELECT lane FROM lanes) AND ${condition} ` +
  `ORDER BY hash(from_event, to_event), from_event, to_event LIMIT ${most}`;

function shownSql(asked: Asked): string {
  const chosen = asked.event === null ? "" : `event_id = ${asked.event} DESC, `;
  return (
    before(asked) +
    LANES +
    `lines AS MATERIALIZED (${flowsOfLanes("from_lane <> to_lane", LINES_MAX)}), ends AS (SELECT from_event AS e FROM lines UNION SELECT to_event FROM lines), ` +
    `moves AS (SELECT event_id, lane, x FROM shown WHERE lane IN (SELECT lane FROM lanes) ORDER BY ${chosen}event_id IN (SELECT e FROM ends) DESC, hash(event_id), event_id LIMIT ${MOVES_MAX}) ` +
    `SELECT 'line' AS kind, from_event AS a, to_event AS b, from_position AS m, to_position AS n, bytes AS o, rule AS s, certainty AS t FROM lines ` +
    `UNION ALL SELECT 'inner', from_event, to_event, from_position, to_position, bytes, rule, certainty FROM (${flowsOfLanes("from_lane = to_lane", INNER_MAX)}) ` +
    `UNION ALL SELECT 'move', event_id, NULL, x, NULL, NULL, lane, NULL FROM moves ` +
    `UNION ALL SELECT 'lane', NULL, NULL, moves, messages, first, lane, NULL FROM lanes ` +
    `UNION ALL SELECT 'all', NULL, NULL, (SELECT count(*) FROM found), (SELECT count(*) FROM flowing WHERE from_lane <> to_lane AND from_lane IN (SELECT lane FROM lanes) AND to_lane IN (SELECT lane FROM lanes)), NULL, NULL, NULL ` +
    `UNION ALL SELECT 'span', NULL, NULL, (SELECT min(first) FROM found), (SELECT max(last) FROM found), NULL, NULL, NULL`
  );
}

const text = (cell: Cell | undefined): string => String(cell ?? "");

// What the calls were, by their ids.
async function wordsOf(ids: string[], selection: Selection, signal: AbortSignal): Promise<Map<string, Cell[]>> {
  const sql = `SELECT event_id, host, at_ns, verb, name, process, coalesce(target, ''), bytes, fingerprint, coalesce(dye_hits, 0) FROM selected WHERE event_id IN (${ids.join(", ")})`;
  return new Map((await askRows(sql, selection, signal, ids.length)).rows.map((row) => [text(row[0]), row]));
}

function movesOf(rows: Cell[][], words: Map<string, Cell[]>, lane: Map<string, number>): Move[] {
  const moves = rows.map(([, id, , x, , , key]) => {
    const [, , at_ns, verb, name, process, target, bytes, fingerprint = null, dyes] = words.get(text(id)) ?? [];
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

// In the order of hosts, and on each of when they first moved something.
function lanesOf(rows: Cell[][], moveRows: Cell[][], words: Map<string, Cell[]>, kind: LaneKind): Lane[] {
  const example = new Map(moveRows.map(([, id, , , , , key]) => [text(key), words.get(text(id))]));
  const lanes = rows.map(([, , , moves, messages, first, key]) => {
    const word = example.get(text(key));
    return {
      key: text(key),
      name: kind === "node" ? text(key) : text(word?.[5] ?? key),
      host: text(word?.[1]),
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
  const { rows } = await askRows(shownSql(asked), selection, signal, MOVES_MAX + LINES_MAX + INNER_MAX + LANES_MAX + 2);
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
