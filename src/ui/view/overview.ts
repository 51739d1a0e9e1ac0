// What happened, on one screen. Each number leads on to its events, each name to what it did.

import type { Cell, Finding, RowsName, Trace } from "../generated/api";
import * as Plot from "@observablehq/plot";
import { askFindings, askRecords, type Row } from "../client/client";
import { address, go, selection } from "../model/place";
import { CLASSES, colour } from "../model/theme";
import { bytesText, durationText, momentText, niceStep, rateText } from "../model/words";
import { brushed, figure, timeAxis } from "./charts";
import { choice, element, harmless, note, type Child } from "./elements";
import { showPanels, type Panel } from "./panels";
import { askedTable, eventsAddress, eventsLink, filterLink, isText, socketCallsAddress, usesOf, whoOf } from "./rows";
import type { Scene, View } from "./view";

const STEPS_MAX = 160; // columns of a chart

const CALLS = "kind = 'syscall' AND parent_event_id IS NULL"; // as selected_calls() has them

function stepOf({ trace }: Scene): number {
  const { from_ns = 0, to_ns = trace.duration_ns } = selection();
  return niceStep(Math.max(to_ns - from_ns, 1), STEPS_MAX);
}

// A stretch of time is as long as it is, though calls begin before it and end after it; without one it is from the first call to the end of the last one.
function spanOf({ duration_ns }: Trace, calls_ns: number): number {
  const { from_ns, to_ns } = selection();
  return from_ns === undefined && to_ns === undefined
    ? calls_ns
    : Math.max(Math.min(to_ns ?? duration_ns, duration_ns) - Math.max(from_ns ?? 0, 0), 0);
}

async function totals(scene: Scene): Promise<Child[]> {
  const { signal } = scene;
  const [row = {}] = await askRecords({ name: "overview_totals", selection: selection(), signal });
  const of = (column: string): number => Number(row[column] ?? 0);
  const [processes, threads, hosts] = [of("processes"), of("threads"), of("hosts")];
  const fact = (words: string, name: string, condition: string): HTMLElement =>
    element("li", {}, eventsLink(words, condition), " ", element("span", { class: "faint" }, name));
  const count = (value: number): string => value.toLocaleString("en");
  const one = (value: number, name: string, names: string): string => (value === 1 ? name : names);
  return [
    element(
      "ul",
      { class: "facts" },
      fact(count(of("calls")), one(of("calls"), "call", "calls"), CALLS),
      fact(durationText(spanOf(scene.trace, of("span_ns"))), "long", CALLS),
      fact(count(processes), one(processes, "process", "processes"), CALLS),
      fact(count(threads), one(threads, "thread", "threads"), CALLS),
      ...(hosts > 1 ? [fact(count(hosts), "hosts", CALLS)] : []),
      fact(bytesText(of("read_bytes")), "read", "verb = 'read'"),
      fact(bytesText(of("written_bytes")), "written", "verb = 'wrote'"),
      ...(of("copied_bytes") > 0 ? [fact(bytesText(of("copied_bytes")), "copied", "verb = 'copied'")] : []),
      fact(count(of("errors")), one(of("errors"), "error", "errors"), `${CALLS} AND is_failure(error, class)`),
      ...(of("would_wait") > 0
        ? [fact(count(of("would_wait")), "would have had to wait", `${CALLS} AND would_wait(error, class)`)]
        : []),
      fact(count(of("slow")), "longer than 100 ms", `${CALLS} AND duration_ns > 100000000`),
      fact(
        count(of("unfinished")),
        "unfinished",
        `${CALLS} AND state = 'unfinished' AND name NOT IN ('exit', 'exit_group')`,
      ),
    ),
  ];
}

interface Moment {
  at: number;
  kind: string | null; // of calls of a class, or else of calls that took as long as one another
  band: number | null; // logarithm of nanoseconds to the base 2
  calls: number;
  bytes: number;
  errors: number;
}

// What happened when, by class and by duration.
async function moments(scene: Scene): Promise<Moment[]> {
  const parameters = { step: stepOf(scene) };
  const wanted = { name: "overview_moments", parameters, rows_max: 20_000 } as const;
  const rows = await askRecords({ ...wanted, selection: selection(), signal: scene.signal });
  return rows.map(({ moment, class: kind = null, band = null, calls, bytes, errors }): Moment => {
    const sums = { calls: Number(calls), bytes: Number(bytes), errors: Number(errors) };
    return {
      at: Number(moment),
      kind: kind === null ? null : String(kind),
      band: band === null ? null : Number(band),
      ...sums,
    };
  });
}

const AMOUNTS: Record<string, { title: string; of: (moment: Moment) => number; text: (value: number) => string }> = {
  calls: { title: "calls", of: ({ calls }) => calls, text: (value) => value.toLocaleString("en") },
  bytes: { title: "bytes", of: ({ bytes }) => bytes, text: bytesText },
  errors: { title: "errors", of: ({ errors }) => errors, text: (value) => value.toLocaleString("en") },
};

async function rates(scene: Scene, asked: Promise<Moment[]>): Promise<Child[]> {
  const step = stepOf(scene),
    name = scene.place.parameters.get("rate") ?? "calls",
    amount = AMOUNTS[name] ?? (AMOUNTS["calls"] as (typeof AMOUNTS)[string]);
  const rows = (await asked).flatMap((moment) =>
    moment.kind === null ? [] : [{ at: moment.at, kind: moment.kind, value: amount.of(moment) }],
  );
  const perSecond = (value: number): string => rateText((value * 1e9) / step, amount.text);
  const chart = figure(
    { name: "rates", title: `${amount.title} over time by class` },
    {
      x: { domain: domainOf(scene, step) },
      y: { label: `${amount.title} a second`, grid: true, tickFormat: perSecond },
      color: { domain: [...CLASSES], range: CLASSES.map(colour) },
      marks: [
        Plot.axisX(timeAxis()),
        Plot.rectY(rows, {
          x1: "at",
          x2: (row: { at: number }) => row.at + step,
          y: "value",
          fill: "kind",
          order: [...CLASSES],
          title: (row: { at: number; kind: string; value: number }) =>
            `${momentText(row.at, step)} · ${row.kind}: ${perSecond(row.value)}`,
        }),
      ],
    },
  );
  const used = CLASSES.filter((kind) => rows.some((row) => row.kind === kind));
  return [
    element(
      "div",
      { class: "row" },
      choice(
        "What is counted",
        Object.entries(AMOUNTS).map(([key, { title }]) => [key, title]),
        name,
        (rate) => go({ rate }),
      ),
      legend(used.map((kind) => [kind, colour(kind)])),
      element("span", { class: "faint" }, `a column is ${durationText(step)}; drag to choose a stretch of time`),
    ),
    brushed(chart),
  ];
}

export function legend(entries: [string, string][]): HTMLElement {
  const item = ([name, fill]: [string, string]): HTMLElement => {
    const box = element("span", { class: "swatch" });
    box.style.background = fill;
    return element("li", {}, box, name);
  };
  return element("ul", { class: "legend", "aria-label": "Colours" }, ...entries.map(item));
}

function domainOf({ trace }: Scene, step: number): [number, number] {
  const { from_ns = 0, to_ns = trace.duration_ns } = selection();
  return [from_ns, Math.max(to_ns, from_ns + step)];
}

async function latency(scene: Scene, asked: Promise<Moment[]>): Promise<Child[]> {
  const step = stepOf(scene);
  const rows = (await asked).flatMap(({ at, band, calls }) => (band === null ? [] : [{ at, band, calls }]));
  if (rows.length === 0) {
    return [];
  }
  const chart = figure(
    { name: "latency", title: "how long calls took, over time" },
    {
      x: { domain: domainOf(scene, step) },
      y: { label: "duration", tickFormat: (band: number) => durationText(2 ** band) },
      color: { scheme: "viridis", type: "log", label: "calls" },
      marks: [
        Plot.axisX(timeAxis()),
        Plot.rect(rows, {
          x1: "at",
          x2: (row: { at: number }) => row.at + step,
          y1: "band",
          y2: (row: { band: number }) => row.band + 1,
          fill: "calls",
          title: (row: { at: number; band: number; calls: number }) =>
            `${momentText(row.at, step)} · ${row.calls.toLocaleString("en")} calls of ${durationText(2 ** row.band)} to ${durationText(2 ** (row.band + 1))}`,
        }),
      ],
    },
  );
  return [
    note("each box is calls of one duration at one time, the brighter the more; waiting (poll, futex, …) is left out"),
    brushed(chart),
  ];
}

const number = (cell: Cell | undefined): string => String(cell ?? "0");
// `link`: the condition that is a row's. `calls`: the address of the calls that it counts, if that condition leaves others.
const GROUPS: Record<
  string,
  { title: string; name: RowsName; link: (row: Row) => string; calls?: (row: Row) => string }
> = {
  processes: {
    title: "Busiest processes",
    name: "overview_processes",
    link: whoOf,
    calls: (row) => eventsAddress(`${whoOf(row)} AND ${CALLS}`),
  },
  files: {
    title: "Files with most bytes",
    name: "overview_files",
    link: (row) => usesOf(number(row["object_id"])),
  },
  sockets: {
    title: "Connections with most bytes",
    name: "overview_sockets",
    link: (row) => isText("target", row["peer"]),
    calls: (row) => socketCallsAddress("socket_uses()", isText("target", row["peer"])),
  },
  calls: {
    title: "Calls that took most time",
    name: "overview_calls",
    link: (row) => isText("name", row["name"]),
    calls: (row) => eventsAddress(`${isText("name", row["name"])} AND ${CALLS}`),
  },
  errors: {
    title: "Errors",
    name: "overview_errors",
    link: (row) => `${isText("name", row["name"])} AND ${isText("error", row["error"])}`,
    calls: (row) =>
      eventsAddress(
        `${isText("name", row["name"])} AND ${isText("error", row["error"])} AND is_failure(error, class) AND ${CALLS}`,
      ),
  },
};

const FILTERABLE: Record<string, { column: string; view: string }> = {
  processes: { column: "process", view: "overview" },
  calls: { column: "name", view: "overview" },
  errors: { column: "error", view: "overview" },
};

function grouped(scene: Scene, name: string): Panel {
  const group = GROUPS[name] as (typeof GROUPS)[string];
  const filter = FILTERABLE[name];
  const events = (row: Row, words: string): Child =>
    element("a", { href: group.calls?.(row) ?? eventsAddress(group.link(row)) }, words);
  const link: Record<string, (row: Row, words: string) => Child> = { calls: events, times: events };
  if (filter !== undefined) {
    link[filter.column] = (row, words) => filterLink(words, group.link(row), filter.view);
  }
  if (name === "files") {
    link["file"] = (row, words) =>
      element(
        "a",
        { href: address("file", { object: number(row["object_id"]) }), title: words },
        words.length > 60 ? "…" + words.slice(-59) : words,
      );
  }
  return {
    title: group.title,
    fill: () =>
      askedTable({
        name: group.name,
        signal: scene.signal,
        caption: group.title,
        hidden: ["process_id", "who", "object_id"],
        link,
      }),
  };
}

// The last findings: to come back to a stretch of time asks nothing anew.
let lastFindings: { key: string; found: Finding[] } | null = null;

// What proves a finding, in the stretch of time that is selected.
const proofOf = ({ query }: Finding, isPart: boolean): string =>
  isPart ? query.replace(/^(select .*?) from events /, "$1 from selected ") : query;

async function findings({ trace, signal }: Scene): Promise<Child[]> {
  const { from_ns, to_ns } = selection(),
    isPart = from_ns !== undefined || to_ns !== undefined,
    stretch = { ...(from_ns === undefined ? {} : { from_ns }), ...(to_ns === undefined ? {} : { to_ns }) };
  const key = JSON.stringify([trace.path, trace.events, stretch]);
  if (lastFindings?.key !== key) {
    lastFindings = { key, found: await askFindings(stretch, signal) };
  }
  const { found } = lastFindings;
  return found.length === 0
    ? []
    : [
        element(
          "ul",
          { class: "findings" },
          ...found.map((finding) =>
            element(
              "li",
              {},
              harmless(finding.text) + " ",
              element("a", { href: address("query", { sql: proofOf(finding, isPart) }) }, "events"),
            ),
          ),
        ),
      ];
}

// What the trace cannot know: of the whole of it, whatever is selected.
function sight(scene: Scene, title: string, name: RowsName): Panel {
  return { title, fill: () => askedTable({ name, signal: scene.signal, caption: title }) };
}

export const overview: View = {
  name: "overview",
  title: "Overview",
  key: "1",
  show: (scene) => {
    const asked = moments(scene);
    return showPanels(scene, [
      { title: "In short", isWide: true, fill: () => totals(scene) },
      { title: "Over time", isWide: true, fill: () => rates(scene, asked) },
      { title: "Latency", isWide: true, fill: () => latency(scene, asked) },
      ...(scene.place.parameters.has("where")
        ? []
        : [{ title: "Worth a look", isWide: true, fill: (): Promise<Child[]> => findings(scene) }]),
      ...Object.keys(GROUPS).map((name) => grouped(scene, name)),
      sight(scene, "Lost", "overview_lost"),
      sight(scene, "Not watched", "overview_unwatched"),
    ]);
  },
};
