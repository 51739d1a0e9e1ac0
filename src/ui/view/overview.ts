// What happened, on one screen. Each number leads on to its events, each name to what it did.

import * as Plot from "@observablehq/plot";
import { askFindings, askRows, type Cell, type Finding } from "../client/client";
import { address, go, selection, sqlText } from "../model/place";
import { CLASSES, colour } from "../model/theme";
import { bytesText, durationText, momentText, niceStep } from "../model/words";
import { brushed, figure, timeAxis } from "./charts";
import { choice, element, harmless, note, type Child } from "./elements";
import { showPanels, type Panel } from "./panels";
import { askedTable, eventsLink, filterLink } from "./rows";
import type { Scene, View } from "./view";

const STEPS_MAX = 160; // columns of a chart

const WHOLE = "parent_event_id IS NULL"; // parts of a call are counted with it

function stepOf({ trace }: Scene): number {
  const { from_ns = 0, to_ns = trace.duration_ns } = selection();
  return niceStep(Math.max(to_ns - from_ns, 1), STEPS_MAX);
}

async function totals({ signal }: Scene): Promise<Child[]> {
  const sql =
    `SELECT count(*), count(DISTINCT process_id), count(DISTINCT thread_id), count(DISTINCT host), coalesce(sum(bytes) FILTER (WHERE verb = 'read'), 0)::BIGINT, ` +
    `coalesce(sum(bytes) FILTER (WHERE verb = 'wrote'), 0)::BIGINT, count(error), count(*) FILTER (WHERE state = 'unfinished'), ` +
    `count(*) FILTER (WHERE duration_ns > 1e8), coalesce(max(at_ns + coalesce(duration_ns, 0)::BIGINT) - min(at_ns), 0) FROM selected WHERE ${WHOLE}`;
  const [row = []] = (await askRows(sql, selection(), signal)).rows;
  const [
    calls = 0,
    processes = 0,
    threads = 0,
    hosts = 0,
    read = 0,
    wrote = 0,
    errors = 0,
    unfinished = 0,
    slow = 0,
    span = 0,
  ] = row.map(Number);
  const fact = (words: string, name: string, condition: string): HTMLElement =>
    element("li", {}, eventsLink(words, condition), " ", element("span", { class: "faint" }, name));
  const count = (value: number): string => value.toLocaleString("en");
  return [
    element(
      "ul",
      { class: "facts" },
      fact(count(calls), "calls", WHOLE),
      fact(durationText(span), "long", WHOLE),
      fact(count(processes), processes === 1 ? "process" : "processes", WHOLE),
      fact(count(threads), threads === 1 ? "thread" : "threads", WHOLE),
      ...(hosts > 1 ? [fact(count(hosts), "hosts", WHOLE)] : []),
      fact(bytesText(read), "read", "verb = 'read'"),
      fact(bytesText(wrote), "written", "verb = 'wrote'"),
      fact(count(errors), "errors", "error IS NOT NULL"),
      fact(count(slow), "longer than 100 ms", "duration_ns > 100000000"),
      fact(count(unfinished), "unfinished", "state = 'unfinished'"),
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

// What happened when, by class and by duration: all calls are looked at once for both. Waiting has no duration here.
async function moments(scene: Scene): Promise<Moment[]> {
  const step = stepOf(scene);
  const sql =
    `SELECT moment, class, band, count(*), coalesce(sum(bytes), 0)::BIGINT, count(error) ` +
    `FROM (SELECT (at_ns // ${step}) * ${step} AS moment, coalesce(class, '?') AS class, bytes, error, CASE WHEN class <> 'wait' AND duration_ns IS NOT NULL THEN floor(log2(greatest(duration_ns, 1)))::INTEGER END AS band FROM selected WHERE ${WHOLE}) ` +
    `GROUP BY GROUPING SETS ((moment, class), (moment, band)) ORDER BY 1, 2, 3`;
  const { rows } = await askRows(sql, selection(), scene.signal, 20_000);
  return rows.map(([at, kind, band, ...sums]): Moment => {
    const [calls = 0, bytes = 0, errors = 0] = sums.map(Number);
    return {
      at: Number(at),
      kind: kind === null || kind === undefined ? null : String(kind),
      band: band === null || band === undefined ? null : Number(band),
      calls,
      bytes,
      errors,
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
    name = scene.place.words.get("rate") ?? "calls",
    amount = AMOUNTS[name] ?? (AMOUNTS["calls"] as (typeof AMOUNTS)[string]);
  const rows = (await asked).flatMap((moment) =>
    moment.kind === null ? [] : [{ at: moment.at, kind: moment.kind, value: amount.of(moment) }],
  );
  const perSecond = (value: number): string => `${amount.text(Math.round((value * 1e9) / step))}/s`;
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
const GROUPS: Record<string, { title: string; sql: string; link: (row: Record<string, Cell>) => string }> = {
  processes: {
    title: "Busiest processes",
    sql: `SELECT process_id, any_value(process) AS process, count(*) AS calls, count(error) AS errors, coalesce(sum(bytes), 0)::BIGINT AS bytes, sum(duration_ns)::BIGINT AS time_ns, quantile_disc(duration_ns, 0.99) AS p99_ns FROM selected WHERE ${WHOLE} GROUP BY process_id ORDER BY calls DESC, process_id LIMIT 12`,
    link: (row) => `process_id = ${number(row["process_id"])}`,
  },
  files: {
    title: "Files with most bytes",
    sql: `SELECT object_id, any_value(path) AS file, coalesce(sum(bytes) FILTER (WHERE verb IN ('read', 'copied')), 0)::BIGINT AS read_bytes, coalesce(sum(bytes) FILTER (WHERE verb = 'wrote'), 0)::BIGINT AS written_bytes, count(*) AS calls, sum(duration_ns)::BIGINT AS time_ns FROM selected WHERE object_type = 'file' AND object_id IS NOT NULL GROUP BY object_id ORDER BY coalesce(sum(bytes), 0) DESC, calls DESC, object_id LIMIT 12`,
    link: (row) => `object_id = ${number(row["object_id"])}`,
  },
  sockets: {
    title: "Connections with most bytes",
    sql: `SELECT target AS peer, any_value(process) AS process, coalesce(sum(bytes) FILTER (WHERE verb = 'read'), 0)::BIGINT AS received_bytes, coalesce(sum(bytes) FILTER (WHERE verb IN ('wrote', 'copied')), 0)::BIGINT AS sent_bytes, count(*) AS calls, sum(duration_ns)::BIGINT AS time_ns FROM selected WHERE object_type = 'socket' GROUP BY target ORDER BY coalesce(sum(bytes), 0) DESC, calls DESC, target LIMIT 12`,
    link: (row) => `target = ${sqlText(String(row["peer"] ?? ""))}`,
  },
  calls: {
    title: "Calls that took most time",
    sql: `SELECT name, count(*) AS calls, count(error) AS errors, coalesce(sum(bytes), 0)::BIGINT AS bytes, sum(duration_ns)::BIGINT AS time_ns, quantile_disc(duration_ns, 0.5) AS p50_ns, quantile_disc(duration_ns, 0.99) AS p99_ns, max(duration_ns) AS max_ns FROM selected WHERE ${WHOLE} GROUP BY name ORDER BY time_ns DESC NULLS LAST, name LIMIT 12`,
    link: (row) => `name = ${sqlText(String(row["name"] ?? ""))}`,
  },
  errors: {
    title: "Errors",
    sql: `SELECT error, name, any_value(process) AS process, count(*) AS times, any_value(target) AS example FROM selected WHERE error IS NOT NULL AND ${WHOLE} GROUP BY error, name ORDER BY times DESC, error, name LIMIT 12`,
    link: (row) => `name = ${sqlText(String(row["name"] ?? ""))} AND error = ${sqlText(String(row["error"] ?? ""))}`,
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
  const events = (row: Record<string, Cell>, words: string): Child => eventsLink(words, group.link(row));
  const link: Record<string, (row: Record<string, Cell>, words: string) => Child> = { calls: events, times: events };
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
        sql: group.sql,
        signal: scene.signal,
        caption: group.title,
        hidden: ["process_id", "object_id"],
        link,
      }),
  };
}

// Of all of the trace, whatever is selected: to select something else asks nothing anew.
let lastFindings: { key: string; found: Finding[] } | null = null;

async function findings({ trace, signal }: Scene): Promise<Child[]> {
  const key = JSON.stringify([trace.path, trace.events]);
  if (lastFindings?.key !== key) {
    lastFindings = { key, found: await askFindings(signal) };
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
              element("a", { href: address("query", { sql: finding.query }) }, "events"),
            ),
          ),
        ),
      ];
}

// What the trace cannot know: of the whole of it, whatever is selected.
function sight(scene: Scene, title: string, sql: string): Panel {
  return { title, fill: () => askedTable({ sql, signal: scene.signal, caption: title }) };
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
      ...(scene.place.words.has("where")
        ? []
        : [{ title: "Worth a look", isWide: true, fill: (): Promise<Child[]> => findings(scene) }]),
      ...Object.keys(GROUPS).map((name) => grouped(scene, name)),
      sight(
        scene,
        "Lost",
        "SELECT host, reason, count(*) AS gaps, sum(lost) AS events, max(end_ns - begin_ns) AS longest_ns FROM gaps GROUP BY ALL ORDER BY gaps DESC LIMIT 20",
      ),
      sight(
        scene,
        "Not watched",
        "SELECT host, source, state, reason FROM coverage WHERE state <> 'on' ORDER BY ALL LIMIT 30",
      ),
    ]);
  },
};
