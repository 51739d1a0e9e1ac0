// A timeline in words: what is under the pointer, the event that was chosen, and a table of what is in view for who does not look.

import { askRows, type Cell, type QueryRows } from "../client/client";
import {
  askFlows,
  ERROR,
  flagsOf,
  RowKind,
  UNFINISHED,
  type Flow,
  type Picture,
  type TimelineRows,
} from "../client/timeline";
import { address } from "../model/place";
import type { TimeSpan } from "../model/time_span";
import { bytesText, dateText, durationText, momentText } from "../model/words";
import { element, harmless, table, type Child } from "./elements";
import { eventsAddress } from "./rows";
import { isWait, waitTargets, waitWords } from "./timeline_waits";
import { AXIS, gapsOf, LABELS, type Drawing } from "./timeline_drawing";
import { runAt, type Run } from "./timeline_runs";

const percent = (part: number): string => `${Math.round((part / 255) * 100)} %`;

// Of several threads heights are logarithms.
function busyWords(fill: number, work: number, ran: number, threads: number): string {
  if (threads === 1) {
    return `in calls ${percent(fill)} of the time; ${percent(fill - work)} waiting for whatever comes, ${percent(ran)} on a CPU`;
  }
  const many = (part: number): string => (2 ** ((part / 255) * Math.log2(1 + threads)) - 1).toFixed(1);
  return `about ${many(fill)} of ${threads.toLocaleString("en")} threads in calls, ${many(ran)} on a CPU`;
}

// Of a run that is one event.
const nameOf = ({ picture, lanes }: Drawing, run: Run): string =>
  lanes.all.names[picture?.names[picture.singleOf[run.index] ?? 0] ?? 0] ?? "";

export function runWords(drawing: Drawing, run: Run): string {
  const { picture, lanes, targets } = drawing;
  if (picture === null) {
    return "";
  }
  const [, fill = 0, work = 0, ran = 0] = picture.look.subarray(4 * run.index, 4 * run.index + 4),
    flags = flagsOf(picture.look, run.index);
  const who = harmless(lanes.all.rows.label[run.row] ?? "");
  const words: string[] = [];
  if (run.event === null) {
    const count = picture.count[run.index] ?? 0;
    words.push(`${who}: ${count.toLocaleString("en")} calls in ${durationText(run.end - run.begin)}`);
    words.push(busyWords(fill, work, ran, lanes.all.rows.threads[run.row] ?? 1));
  } else {
    const name = nameOf(drawing, run);
    const target = targets.get(run.event);
    words.push(`${who}: ${name}${target === undefined ? "" : ` ${harmless(target)}`}`);
    words.push(
      `${run.isCut ? "more than " : ""}${durationText(run.end - run.begin)}, ${percent(255 - ran)} of it waiting`,
    );
  }
  words.push(momentText(run.begin, Math.max((run.end - run.begin) / 100, 1)));
  if ((flags & ERROR) !== 0) {
    words.push(run.event === null ? "some failed" : "failed");
  }
  if ((flags & UNFINISHED) !== 0) {
    words.push("never returned while it was watched");
  }
  return words.join("\n");
}

export const gapWords = (drawing: Drawing, row: number, at: number, slack: number): string =>
  gapsOf(drawing, row)
    .filter((gap) => gap.begin - slack <= at && gap.end + slack >= at)
    .map(
      (gap) =>
        `events are missing here: ${gap.lost > 0 ? gap.lost.toLocaleString("en") : "nobody knows how many"} (${gap.reason.replaceAll("_", " ")})`,
    )
    .join("\n");

// start_ns of what began in this time of a host: by that its events are found without looking at all of them.
export function startsBetween(all: TimelineRows, host: number, { from, to }: TimeSpan): string {
  const known = all.hosts[host];
  if (known === undefined || BigInt(known.ahead_min_ns) > BigInt(known.ahead_max_ns)) {
    return "true";
  }
  const at = (ns: number, ahead: string): bigint => BigInt(all.begin_ns) + BigInt(Math.round(ns)) - BigInt(ahead);
  const least = at(from, known.ahead_max_ns),
    most = at(to, known.ahead_min_ns);
  return `start_ns BETWEEN ${least < 0n ? 0n : least} AND ${most < 0n ? 0n : most}`;
}

function conditionOf(drawing: Drawing, run: Run): string {
  const { from, to, width } = (drawing.picture as Picture).asked;
  const slack = (2 * (to - from)) / width + 1000;
  const begin = run.isCut ? 0 : run.begin - slack;
  return `event_id = ${run.event} AND ${startsBetween(drawing.lanes.all, drawing.lanes.all.rows.host[run.row] ?? 0, { from: begin, to: run.begin + slack })}`;
}

const ASKED =
  "at_ns, process, comm, tid, name, class, target, error, result, bytes, requested, duration_ns, on_cpu_ns, file_offset, arguments, path, object_id, object_type, process_id, event_id";

const MADE: Record<string, (ns: number) => string> = { duration_ns: durationText, on_cpu_ns: durationText };

function linksOf(cells: Map<string, Cell>): Child[] {
  const text = (name: string): string => String(cells.get(name) ?? "");
  const links: Child[] = [];
  const add = (words: string, href: string): void => void links.push(element("a", { href }, words), " · ");
  if (cells.get("object_type") === "file") {
    add("its file", address("file", { object: text("object_id") }));
  }
  if (cells.get("path") !== null) {
    add("where its bytes went", address("trail", { start: text("path"), direction: "forward" }));
    add("where they came from", address("trail", { start: text("path"), direction: "back" }));
  }
  add("all of its process", eventsAddress(`process_id = ${text("process_id")}`));
  return links.slice(0, -1);
}

function eventTable(rows: QueryRows, { side, lanes }: Drawing, wait: Child[]): Child[] {
  const row = rows.rows[0];
  if (row === undefined) {
    return ["This event is not in the trace any more."];
  }
  const cells = new Map(rows.columns.map(({ name }, index) => [name, row[index] ?? null]));
  const shown = [...cells].filter(([name, cell]) => cell !== null && !["process_id", "object_id"].includes(name));
  const words = (name: string, cell: Cell): string =>
    name === "at_ns"
      ? `${momentText(Number(cell), 1)} · ${dateText(lanes.all.begin_ns, Number(cell))} UTC`
      : MADE[name] !== undefined
        ? `${MADE[name](Number(cell))} (${Number(cell).toLocaleString("en")} ns)`
        : harmless(String(cell));
  return [
    ...(side === "this" ? [element("p", { class: "row" }, ...linksOf(cells))] : []), // other views show the first trace
    ...wait,
    element(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "columns of the event" },
      element(
        "table",
        { class: "event" },
        element(
          "tbody",
          {},
          ...shown.map(([name, cell]) =>
            element(
              "tr",
              {},
              element("th", { scope: "row" }, name.replace(/_ns$/, "")),
              element("td", { "data-column": name, title: harmless(String(cell)) }, words(name, cell)),
            ),
          ),
        ),
      ),
    ),
  ];
}

export async function eventWords(drawing: Drawing, run: Run, signal: AbortSignal): Promise<Child[]> {
  const rows = await askRows(
    `SELECT ${ASKED} FROM selected WHERE ${conditionOf(drawing, run)}`,
    {},
    signal,
    1,
    drawing.side,
  );
  const wait = await waitWords(String(run.event), nameOf(drawing, run), drawing.side, signal);
  return eventTable(rows, drawing, wait);
}

const TARGETS_MAX = 100;
// A process that is waited for is known by its pid: the low 22 bits of its id.
const WAITS_FOR = "coalesce(nullif(target, '?'), 'process ' || (target_process_id & 4194303), '')";

// What the widest calls in view act on, or wait for.
export async function askTargets(drawing: Drawing, wide: Run[], signal: AbortSignal): Promise<[string, string][]> {
  const isAsked = (run: Run): boolean =>
    run.event !== null &&
    !drawing.targets.has(run.event) &&
    run.begin <= drawing.span.to &&
    run.end >= drawing.span.from;
  const asked = wide
    .filter(isAsked)
    .sort((a, b) => b.end - b.begin - (a.end - a.begin))
    .slice(0, TARGETS_MAX);
  if (asked.length === 0) {
    return [];
  }
  const hosts = new Map<number, Run[]>();
  for (const run of asked) {
    const host = drawing.lanes.all.rows.host[run.row] ?? 0;
    hosts.set(host, [...(hosts.get(host) ?? []), run]);
  }
  const { from, to, width } = (drawing.picture as Picture).asked,
    slack = (2 * (to - from)) / width + 1000;
  const conditions = [...hosts].map(([host, runs]) => {
    const begin = runs.some(({ isCut }) => isCut) ? 0 : Math.min(...runs.map((run) => run.begin)) - slack;
    return `event_id IN (${runs.map(({ event }) => event).join(", ")}) AND ${startsBetween(drawing.lanes.all, host, { from: begin, to: Math.max(...runs.map((run) => run.begin)) + slack })}`;
  });
  const rows = await askRows(
    `SELECT event_id::VARCHAR, ${WAITS_FOR} FROM selected WHERE ${conditions.map((each) => `(${each})`).join(" OR ")}`,
    {},
    signal,
    TARGETS_MAX,
    drawing.side,
  );
  const targets = new Map(
    rows.rows
      .map(([event, target]): [string, string] => [String(event), String(target)])
      .filter(([, target]) => target !== ""),
  );
  const waits = asked.filter((run) => isWait(nameOf(drawing, run))).map(({ event }) => String(event));
  for (const [event, words] of await waitTargets(waits, drawing.side, signal)) {
    targets.set(event, words);
  }
  return [...targets];
}

// Row by row: how many calls, and how much of the time.
export function viewTable(drawing: Drawing, rows: number[]): HTMLElement {
  const { picture, lanes, span } = drawing;
  const cells: Cell[][] = rows.map((row) => {
    const runs = picture?.runsOf.get(row);
    let calls = 0,
      failed = 0;
    for (let run = runs?.begin ?? 0; picture !== null && run < (runs?.end ?? 0); ++run) {
      const isSeen = runAt(picture, row, run).begin < span.to && runAt(picture, row, run).end >= span.from;
      calls += isSeen ? (picture.count[run] ?? 0) : 0;
      failed += isSeen && (flagsOf(picture.look, run) & ERROR) !== 0 ? 1 : 0;
    }
    const gaps = gapsOf(drawing, row).length;
    return [
      lanes.all.rows.label[row] ?? "",
      RowKind[lanes.all.rows.kind[row] ?? 2] ?? "",
      calls.toLocaleString("en"),
      failed > 0 ? "yes" : "",
      gaps > 0 ? String(gaps) : "",
    ];
  });
  const column = (name: string, isNumber = false): { name: string; kind: "number" | "text" } => ({
    name,
    kind: isNumber ? "number" : "text",
  });
  return table(
    [column("row"), column("what"), column("calls", true), column("failed"), column("gaps", true)],
    cells,
    "What is in view",
  );
}

// Between the lanes that are seen.
export async function flowsInView(drawing: Drawing, where: string, signal: AbortSignal): Promise<Flow[]> {
  const { span, lanes, width, top, height } = drawing;
  const [first, end] = lanes.between(top, top + height - AXIS);
  const rows = lanes.lanes.slice(first, end).map(({ row }) => row);
  const question = {
    where,
    revision: lanes.all.revision,
    from: Math.floor(span.from),
    to: Math.ceil(span.to),
    width: Math.round(width - LABELS),
    rows,
  };
  return (await askFlows(question, signal)).flows;
}

export function flowsText(flows: Flow[]): string {
  const many = flows.reduce((sum, { count }) => sum + count, 0),
    bytes = flows.reduce((sum, flow) => sum + flow.bytes, 0);
  return `${many.toLocaleString("en")} flows of ${bytesText(bytes)} between the rows in view${many > flows.length ? ", as bundles" : ""}`;
}
