// A timeline in words: what is under the pointer, the event that was chosen, and a table of what is in view for who does not look.

import type { Cell, Rows, TimelineFlow, TimelineRows } from "../generated/api";
import { askRecords, askRows } from "../client/client";
import { askFlows, ERROR, flagsOf, RowKind, UNFINISHED, type Picture } from "../client/timeline";
import { address } from "../model/place";
import type { TimeSpan } from "../model/time_span";
import { bytesText, dateText, durationText, momentText, shareText } from "../model/words";
import { element, harmless, table, type Child } from "./elements";
import { eventsAddress } from "./rows";
import { isWait, waitTargets, waitWords } from "./timeline_waits";
import { AXIS, gapsOf, LABELS, type Drawing } from "./timeline_drawing";
import { runAt, type Run } from "./timeline_runs";

// A picture says shares in steps of 1/255, and no more exactly.
const percent = (part: number): string =>
  part <= 0 ? "less than 1 %" : part >= 255 ? "more than 99 %" : `about ${Math.round((part / 255) * 100)} %`;

// Heights of several threads are logarithms.
function busyWords(fill: number, work: number, ran: number, threads: number): string {
  if (threads === 1) {
    return `in calls ${percent(fill)} of the time; ${percent(fill - work)} waiting for whatever comes, ${percent(ran)} on a CPU`;
  }
  const many = (part: number): string => (2 ** ((part / 255) * Math.log2(1 + threads)) - 1).toFixed(1);
  return `about ${many(fill)} of ${threads.toLocaleString("en")} threads in calls, ${many(ran)} on a CPU`;
}

// Names a run that is one event.
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
    words.push(`${who}: ${count.toLocaleString("en")} events in about ${durationText(run.end - run.begin)}`);
    words.push(busyWords(fill, work, ran, lanes.all.rows.threads[run.row] ?? 1));
    words.push(momentText(run.begin, Math.max((run.end - run.begin) / 100, 1)));
  } else {
    const name = nameOf(drawing, run);
    const target = targets.get(run.event);
    words.push(`${who}: ${name}${target === undefined ? "" : ` ${harmless(target)}`}`);
    const exact = drawing.exact.get(run.event);
    if (exact === undefined) {
      words.push(run.isCut ? "…" : `about ${durationText(run.end - run.begin)}`);
    } else if (exact.duration !== null) {
      const { duration, ran } = exact;
      words.push(
        `${durationText(duration)}${ran === null ? "" : `, ${shareText(duration - ran, duration)} of it waiting`}`,
      );
    }
    words.push(momentText(exact?.at ?? run.begin, Math.max((exact?.duration ?? run.end - run.begin) / 100, 1)));
  }
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

// CLOCK_BOOTTIME of what began in this time of a host: by that its events are found without looking at all of them. null: any.
function startsBetween(all: TimelineRows, host: number, { from, to }: TimeSpan): [bigint, bigint] | null {
  const known = all.hosts[host];
  if (known === undefined || BigInt(known.ahead_min_ns) > BigInt(known.ahead_max_ns)) {
    return null;
  }
  const at = (ns: number, ahead: string): bigint => {
    const start_ns = BigInt(all.begin_ns) + BigInt(Math.round(ns)) - BigInt(ahead);
    return start_ns < 0n ? 0n : start_ns;
  };
  return [at(from, known.ahead_max_ns), at(to, known.ahead_min_ns)];
}

const ANY: [bigint, bigint] = [0n, (1n << 63n) - 1n]; // times in SQL have a sign

// Between which times some runs start, on whichever hosts they are.
function startsOf(drawing: Drawing, runs: Run[]): { start_min_ns: string; start_max_ns: string } {
  const { all } = drawing.lanes;
  const { from, to, width } = (drawing.picture as Picture).asked;
  const slack = (2 * (to - from)) / width + 1000;
  const starts = runs.map(
    ({ row, begin, isCut }) =>
      startsBetween(all, all.rows.host[row] ?? 0, { from: isCut ? 0 : begin - slack, to: begin + slack }) ?? ANY,
  );
  const least = starts.map(([start_min_ns]) => start_min_ns).reduce((a, b) => (a < b ? a : b)),
    most = starts.map(([, start_max_ns]) => start_max_ns).reduce((a, b) => (a > b ? a : b));
  return { start_min_ns: String(least), start_max_ns: String(most) };
}

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
  add("all of its process", eventsAddress(text("who")));
  return links.slice(0, -1);
}

function eventTable(rows: Rows, { side, lanes }: Drawing, wait: Child[]): Child[] {
  const row = rows.rows[0];
  if (row === undefined) {
    return ["This event is not in the trace any more."];
  }
  const cells = new Map(rows.columns.map(({ name }, index) => [name, row[index] ?? null]));
  const shown = [...cells].filter(([name, cell]) => cell !== null && !["who", "object_id"].includes(name));
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
  const event = String(run.event),
    { side } = drawing;
  const wanted = { name: "timeline_event", parameters: { event, ...startsOf(drawing, [run]) }, rows_max: 1 } as const;
  const rows = await askRows({ ...wanted, selection: {}, signal, side });
  const wait = await waitWords(event, nameOf(drawing, run), side, signal);
  return eventTable(rows, drawing, wait);
}

const TARGETS_MAX = 100;

// When calls were made, how long they took, and what they act on.
export async function askFacts(drawing: Drawing, runs: Run[], signal: AbortSignal): Promise<Map<string, string>> {
  const wanted = {
    name: "timeline_targets",
    parameters: { events: runs.map(({ event }) => String(event)), ...startsOf(drawing, runs) },
    rows_max: runs.length,
  } as const;
  const number = (cell: Cell | undefined): number | null => (cell == null ? null : Number(cell));
  const targets = new Map<string, string>();
  for (const row of await askRecords({ ...wanted, selection: {}, signal, side: drawing.side })) {
    const event = String(row["event_id"]),
      target = String(row["target"] ?? "");
    drawing.exact.set(event, {
      at: Number(row["at_ns"]),
      duration: number(row["duration_ns"]),
      ran: number(row["on_cpu_ns"]),
    });
    if (target !== "") {
      targets.set(event, target);
    }
  }
  return targets;
}

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
  const { side } = drawing,
    targets = await askFacts(drawing, asked, signal);
  const waits = asked.filter((run) => isWait(nameOf(drawing, run))).map(({ event }) => String(event));
  for (const [event, words] of await waitTargets(waits, side, signal)) {
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
    [column("row"), column("what"), column("events", true), column("failed"), column("gaps", true)],
    cells,
    "What is in view",
  );
}

// Between the lanes that are seen.
export async function flowsInView(drawing: Drawing, where: string, signal: AbortSignal): Promise<TimelineFlow[]> {
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

export function flowsText(flows: TimelineFlow[]): string {
  const many = flows.reduce((sum, { count }) => sum + count, 0),
    bytes = flows.reduce((sum, flow) => sum + flow.bytes, 0);
  return `${many.toLocaleString("en")} flows of ${bytesText(bytes)} between the rows in view${many > flows.length ? ", as bundles" : ""}`;
}
