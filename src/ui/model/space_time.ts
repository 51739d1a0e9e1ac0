// What space-time shows: lanes (processes or nodes), the calls that moved bytes on them, and where these bytes went.
//
//   cat[812]   ──●────────●─────────   a dot is a call, at the moment when its bytes left (writes) or had come (reads)
//                 ╲        ╲
//   tee[813]   ────○────────○──●────   a line is a flow: bytes of one call that another one had
//
// Time is cluster time, each host's own clock, or the logical order. At most MOVES_MAX calls and LINES_MAX lines between lanes are asked for, on the
// LANES_MAX lanes with most messages; of more, some that are spread evenly.

import { askRows, type Cell, type QueryRows, type Selection } from "../client/client";
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
  raw: (begin_ns) => `(start_ns::HUGEINT + (SELECT c.wall FROM clocks c WHERE c.host = s.host) - ${BigInt(begin_ns)}::HUGEINT)::BIGINT + ${OWN_MOMENT}`,
  order: () => "logical_order(event_id)::BIGINT",
};

const MOVE_COLUMNS = "event_id, lane, lane_name, host, x, at_ns, verb, name, process, target, bytes, fingerprint, dyes";
const FLOW_COLUMNS = "from_event, to_event, from_position, to_position, bytes, rule, certainty, from_lane, to_lane";

function common(asked: Asked): string {
  const lane = asked.lanes === "node" ? "coalesce(node, host)" : "process_id::VARCHAR", name = asked.lanes === "node" ? lane : "process";
  const window = asked.window === null ? "" : ` AND x BETWEEN ${Math.floor(asked.window[0])} AND ${Math.ceil(asked.window[1])}`;
  const clocks = asked.time === "raw" ? "clocks AS (SELECT host, min_by(wall_ns::HUGEINT - boot_ns::HUGEINT, boot_ns) AS wall FROM clock_snapshots GROUP BY host), " : "";
  return (
    `WITH ${clocks}moved AS (SELECT event_id, ${lane} AS lane, ${name} AS lane_name, host, ${X[asked.time](asked.begin_ns)} AS x, at_ns, verb, name, process, coalesce(target, '') AS target, ` +
    `bytes, fingerprint, coalesce(dye_hits, 0) AS dyes FROM selected s WHERE bytes > 0 AND verb IN ('read', 'wrote', 'copied')${window}), ` +
    `flowing AS (SELECT f.from_event, f.to_event, f.from_position, f.to_position, f.bytes, f.rule, f.certainty, a.lane AS from_lane, b.lane AS to_lane ` +
    `FROM flows f JOIN moved a ON a.event_id = f.from_event JOIN moved b ON b.event_id = f.to_event), ` +
    `shown AS (SELECT ${MOVE_COLUMNS} FROM moved${asked.isAll ? "" : " WHERE event_id IN (SELECT from_event FROM flowing UNION SELECT to_event FROM flowing)"}) `
  );
}

// The busiest lanes, each with those that it speaks with: a lane counts as much as the busiest one that it speaks with.
const LANES =
  `, ends AS (SELECT from_lane AS lane, to_lane AS other FROM flowing WHERE from_lane <> to_lane UNION ALL SELECT to_lane, from_lane FROM flowing WHERE from_lane <> to_lane), ` +
  `spoken AS (SELECT lane, count(*) AS messages FROM ends GROUP BY lane), ` +
  `ranked AS (SELECT e.lane, any_value(own.messages) AS messages, max(p.messages) AS best, arg_max(e.other, (p.messages, e.other)) AS partner ` +
  `FROM (SELECT DISTINCT lane, other FROM ends) e JOIN spoken own ON own.lane = e.lane JOIN spoken p ON p.lane = e.other GROUP BY e.lane) ` +
  `SELECT m.lane, any_value(m.lane_name), any_value(m.host), count(*) AS moves, coalesce(any_value(r.messages), 0) AS messages, min(m.x), min(min(m.x)) OVER (), max(max(m.x)) OVER (), count(*) OVER () ` +
  `FROM shown m LEFT JOIN ranked r ON r.lane = m.lane GROUP BY m.lane, r.messages, r.best, r.partner ` +
  `ORDER BY greatest(r.messages, r.best) DESC NULLS LAST, CASE WHEN r.best > r.messages THEN r.partner WHEN r.best = r.messages THEN least(m.lane, r.partner) ELSE m.lane END, ` +
  `messages DESC, moves DESC, m.lane LIMIT ${LANES_MAX}`;

// Spread evenly, and the same each time.
const SPREAD = "hash(from_event, to_event), from_event, to_event";

function flowsSql(among: string, condition: string, most: number): string {
  return `SELECT ${FLOW_COLUMNS}, count(*) OVER () AS in_all FROM flowing WHERE from_lane IN (${among}) AND to_lane IN (${among}) AND ${condition} ORDER BY ${SPREAD} LIMIT ${most}`;
}

function movesSql(among: string, event: string | null): string {
  const chosen = event === null ? "false" : `event_id = ${event}`;
  return (
    `, lines AS (${flowsSql(among, "from_lane <> to_lane", LINES_MAX)}), ends AS (SELECT from_event AS e FROM lines UNION SELECT to_event FROM lines) ` +
    `SELECT ${MOVE_COLUMNS} FROM shown WHERE lane IN (${among}) ORDER BY ${chosen} DESC, event_id IN (SELECT e FROM ends) DESC, hash(event_id), event_id LIMIT ${MOVES_MAX}`
  );
}

const text = (cell: Cell | undefined): string => String(cell ?? "");

interface FoundLanes {
  lanes: Lane[];
  inAll: number;
  span: [number, number];
}

// In the order of hosts, and on each of when they first moved something.
function lanesOf({ rows }: QueryRows): FoundLanes {
  const [first] = rows;
  const ordered = rows.map((row) => ({ row, at: Number(row[5]) })).sort((a, b) => (text(a.row[2]) < text(b.row[2]) ? -1 : text(a.row[2]) > text(b.row[2]) ? 1 : a.at - b.at));
  const lanes = ordered.map(({ row }) => ({ key: text(row[0]), name: text(row[1]), host: text(row[2]), moves: Number(row[3]), messages: Number(row[4]) }));
  return { lanes, inAll: Number(first?.[8] ?? 0), span: [Number(first?.[6] ?? 0), Number(first?.[7] ?? 1)] };
}

function movesOf({ rows }: QueryRows, lanes: Lane[]): Move[] {
  const lane = new Map(lanes.map(({ key }, index) => [key, index]));
  const moves = rows.map((row) => ({
    id: text(row[0]), lane: lane.get(text(row[1])) ?? 0, x: Number(row[4]), at_ns: Number(row[5]), verb: text(row[6]), name: text(row[7]), process: text(row[8]), target: text(row[9]),
    bytes: Number(row[10]), fingerprint: row[11] == null ? null : text(row[11]), dyes: Number(row[12]),
  }));
  return moves.sort((a, b) => a.x - b.x || (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
}

function flowsOf({ rows }: QueryRows, index: Map<string, number>): Flow[] {
  return rows.flatMap((row) => {
    const [from, to] = [index.get(text(row[0])), index.get(text(row[1]))];
    return from === undefined || to === undefined
      ? []
      : [{ from, to, from_position: Number(row[2]), to_position: Number(row[3]), bytes: Number(row[4]), rule: text(row[5]), certainty: text(row[6]) as Certainty }];
  });
}

const NOTHING: SpaceTime = { lanes: [], moves: [], lines: [], inner: [], lanesInAll: 0, movesInAll: 0, linesInAll: 0, isCut: false, span: [0, 1] };

export async function askSpaceTime(asked: Asked, selection: Selection, signal: AbortSignal): Promise<SpaceTime> {
  const before = common(asked);
  const ask = (sql: string, most: number): Promise<QueryRows> => askRows(before + sql, selection, signal, most);
  const { lanes, inAll, span } = lanesOf(await ask(LANES, LANES_MAX));
  if (lanes.length === 0) {
    return NOTHING;
  }
  const among = lanes.map(({ key }) => `'${key.replaceAll("'", "''")}'`).join(", ");
  const [moveRows, lineRows, innerRows] = await Promise.all([
    ask(movesSql(among, asked.event), MOVES_MAX),
    ask(flowsSql(among, "from_lane <> to_lane", LINES_MAX), LINES_MAX),
    ask(flowsSql(among, "from_lane = to_lane", INNER_MAX), INNER_MAX),
  ]);
  const moves = movesOf(moveRows, lanes), index = new Map(moves.map(({ id }, at) => [id, at]));
  const linesInAll = Number(lineRows.rows[0]?.[9] ?? 0), movesInAll = lanes.reduce((sum, lane) => sum + lane.moves, 0), lines = flowsOf(lineRows, index);
  return { lanes, moves, lines, inner: flowsOf(innerRows, index), lanesInAll: inAll, movesInAll, linesInAll, span, isCut: movesInAll > moves.length || linesInAll > lines.length || inAll > lanes.length };
}
