// Two traces with the same axes: what differs first, then both beside each other.

import type { Rows } from "../generated/api";
import * as Plot from "@observablehq/plot";
import { askOtherTrace, askRows, type RowsWanted, type Side } from "../client/client";
import { selection } from "../model/place";
import { CLASSES, colour } from "../model/theme";
import {
  amountOfTrace,
  amountText,
  bytesText,
  changeText,
  durationText,
  momentText,
  niceStep,
  rateText,
  shareText,
} from "../model/words";
import { figure, timeAxis } from "./charts";
import { timelinePanel } from "./compare_timeline";
import { element, harmless, lacking, note, short, table, type CellMaker, type Child } from "./elements";
import { legend } from "./overview";
import { showPanels } from "./panels";
import type { Scene, View } from "./view";

const SIDES: Side[] = ["this", "other"];
const ROWS_MAX = 100_000; // of a group, before the two are joined
const SHOWN_MAX = 30;
const STEPS_MAX = 120;
const MEASURES = ["calls", "bytes", "errors", "time_ns", "p99_ns"];

type Asked = Pick<RowsWanted, "name" | "parameters" | "rows_max">;

const both = (asked: Asked, signal: AbortSignal): Promise<Rows[]> =>
  Promise.all(SIDES.map((side) => askRows({ rows_max: ROWS_MAX, ...asked, selection: selection(), signal, side })));

interface Pair {
  key: string;
  here: number[];
  there: number[];
}

// Rows of [key, measure…] of both, by key.
export function paired([here, there]: Rows[]): Pair[] {
  const pairs = new Map<string, Pair>();
  const take = (rows: Rows | undefined, side: "here" | "there"): void => {
    for (const [key, ...amounts] of rows?.rows ?? []) {
      const name = harmless(String(key));
      const pair = pairs.get(name) ?? { key: name, here: [], there: [] };
      pair[side] = amounts.map(Number);
      pairs.set(name, pair);
    }
  };
  take(here, "here");
  take(there, "there");
  return [...pairs.values()];
}

// What is left out of one of the two may be in the other one all the same.
function leftOut(sides: Rows[]): Child[] {
  const cut = sides.flatMap(({ is_cut, rows }, index) =>
    is_cut ? [`of the ${index === 0 ? "first" : "second"} the ${rows.length.toLocaleString("en")} with most`] : [],
  );
  return cut.length === 0 ? [] : [note(`compared are only, ${cut.join(", ")}: what is in one here may be in both`)];
}

// What differs most by `measure` comes first.
function differences(sides: Rows[], title: string, measure: number): Child[] {
  const pairs = paired(sides);
  const amount = (side: number[], index: number): number => side[index] ?? 0;
  const gap = ({ here, there }: Pair): number => Math.abs(amount(there, measure) - amount(here, measure));
  const sorted = [...pairs].sort((a, b) => gap(b) - gap(a) || (a.key < b.key ? -1 : 1)).slice(0, SHOWN_MAX);
  if (sorted.length === 0) {
    return [];
  }
  const columns = [
    { name: title, kind: "text" as const },
    ...MEASURES.flatMap((name) =>
      ["", "→", "change"].map((head, index) => ({
        name: index === 0 ? name.replace("_ns", "") : head,
        kind: "number" as const,
      })),
    ),
  ];
  const rows = sorted.map(({ key, here, there }) => [
    short(key, 50),
    ...MEASURES.flatMap((name, index) => {
      const [a, b] = [amount(here, index), amount(there, index)];
      return [amountText(name, a), amountText(name, b), changeText(a, b)];
    }),
  ]);
  const changed: CellMaker = (value) => {
    const words = String(value);
    const isMore = words.startsWith("+") || words.startsWith("×") || words === "new";
    return element("span", { class: ["=", "≈"].includes(words) ? "faint" : isMore ? "more" : "less" }, words);
  };
  return [
    ...leftOut(sides),
    note(`most different in ${MEASURES[measure]?.replace("_ns", "") ?? ""} first`),
    table(columns, rows, title, { change: changed }),
  ];
}

async function rates(scene: Scene, spans: number[]): Promise<Child[]> {
  const { from_ns = 0, to_ns = Math.max(...spans) } = selection();
  const step = niceStep(Math.max(to_ns - from_ns, 1), STEPS_MAX);
  const asked: Asked = { name: "compare_rates", parameters: { step }, rows_max: 20_000 };
  const sides = (await both(asked, scene.signal)).map(({ rows }) =>
    rows.map(([at, kind, calls]) => ({ at: Number(at), kind: String(kind), calls: (Number(calls) * 1e9) / step })),
  );
  const sums = sides.map((rows) => {
    const byTime = new Map<number, number>();
    rows.forEach(({ at, calls }) => byTime.set(at, (byTime.get(at) ?? 0) + calls));
    return Math.max(0, ...byTime.values());
  });
  const used = CLASSES.filter((kind) => sides.some((rows) => rows.some((row) => row.kind === kind)));
  return [
    legend(used.map((kind) => [kind, colour(kind)])),
    ...sides.map((rows, index) =>
      figure(
        {
          name: `rates-${SIDES[index] ?? ""}`,
          title: `calls a second by class, ${index === 0 ? "of the first" : "of the second"} trace`,
        },
        {
          height: 160,
          x: { domain: [from_ns, Math.max(to_ns, from_ns + step)] },
          y: {
            domain: [0, Math.max(...sums)],
            label: `${index === 0 ? "first" : "second"}: calls a second`,
            grid: true,
          },
          color: { domain: [...CLASSES], range: CLASSES.map(colour) },
          marks: [
            Plot.axisX(timeAxis()),
            Plot.rectY(rows, {
              x1: "at",
              x2: (row: { at: number }) => row.at + step,
              y: "calls",
              fill: "kind",
              order: [...CLASSES],
              title: (row: { at: number; kind: string; calls: number }) =>
                `${momentText(row.at, step)} · ${row.kind}: ${rateText(row.calls, (whole) => whole.toLocaleString("en"))}`,
            }),
          ],
        },
      ),
    ),
  ];
}

// Which share of the calls took at most so long: a line to the right is slower.
async function latencies(scene: Scene): Promise<Child[]> {
  const sides = await both({ name: "compare_latencies" }, scene.signal);
  const lines = sides.flatMap(({ rows }, index) => {
    const all = rows.reduce((sum, row) => sum + Number(row[1]), 0);
    let below = 0;
    return rows.map(([band, calls]) => ({
      band: (Number(band) + 1) / 4,
      share: (below += Number(calls)) / all,
      below,
      all,
      side: index === 0 ? "first" : "second",
    }));
  });
  if (lines.length === 0) {
    return [];
  }
  const words = ({ side, below, all, band }: (typeof lines)[number]): string =>
    `${side}: ${below.toLocaleString("en")} of ${all.toLocaleString("en")} calls, ${shareText(below, all)}, took at most ${durationText(2 ** band)}`;
  const colours = [colour("file"), colour("network")];
  return [
    legend([
      ["first", colours[0] ?? ""],
      ["second", colours[1] ?? ""],
    ]),
    figure(
      { name: "latencies", title: "share of calls that took at most so long, of both traces" },
      {
        x: { label: "duration", tickFormat: (band: number) => durationText(2 ** band) },
        y: { label: "share of calls", percent: true, grid: true },
        color: { domain: ["first", "second"], range: colours },
        marks: [
          Plot.line(lines, { x: "band", y: "share", stroke: "side", strokeWidth: 2, curve: "step-after" }),
          Plot.dot(lines, { x: "band", y: "share", fill: "side", r: 2, title: words }),
        ],
      },
    ),
  ];
}

async function targets(scene: Scene): Promise<Child[]> {
  const sides = await both({ name: "compare_targets" }, scene.signal),
    pairs = paired(sides);
  const only = (side: "here" | "there"): Child[] => {
    const rows = pairs
      .filter((pair) => pair[side === "here" ? "there" : "here"].length === 0)
      .sort((a, b) => (b[side][0] ?? 0) - (a[side][0] ?? 0))
      .slice(0, SHOWN_MAX);
    const title = side === "here" ? "only in the first" : "only in the second";
    return rows.length === 0
      ? [note(`nothing ${title}`)]
      : [
          table(
            [
              { name: title, kind: "text" },
              { name: "bytes", kind: "number" },
              { name: "calls", kind: "number" },
            ],
            rows.map((pair) => [
              short(pair.key, 60),
              bytesText(pair[side][0] ?? 0),
              (pair[side][1] ?? 0).toLocaleString("en"),
            ]),
            title,
          ),
        ];
  };
  return [
    ...leftOut(sides),
    element("div", { class: "beside" }, element("div", {}, ...only("here")), element("div", {}, ...only("there"))),
  ];
}

export const compare: View = {
  name: "compare",
  title: "Two traces",
  key: "7",
  async show(scene) {
    const other = await askOtherTrace();
    if (other === null) {
      scene.main.replaceChildren(
        lacking(
          "One trace is open; a second one stands beside it with",
          `dyetrace ui ${harmless(scene.trace.path)} OTHER`,
        ),
      );
      return;
    }
    const grouped = (title: string, by: string) => ({
      title,
      isWide: true,
      fill: async (): Promise<Child[]> =>
        differences(
          await both({ name: "compare_calls", parameters: { by } }, scene.signal),
          title,
          MEASURES.indexOf("time_ns"),
        ),
    });
    const words = (info: { path: string; events: number; duration_ns: number }): string =>
      `${short(harmless(info.path), 60)}: ${amountOfTrace(info)}`;
    await showPanels(scene, [
      {
        title: "Two traces",
        isWide: true,
        fill: () =>
          Promise.resolve([
            note(`first ${words(scene.trace)}`),
            note(`second ${words(other)}`),
            note("the filter bar holds for both; times count from the begin of each"),
          ]),
      },
      { title: "Timelines", isWide: true, fill: () => timelinePanel(scene) },
      grouped("Calls", "name"),
      grouped("Programs", "program"),
      grouped("Errors by call", "error"),
      { title: "Only in one", isWide: true, fill: () => targets(scene) },
      { title: "Rates", isWide: true, fill: () => rates(scene, [scene.trace.duration_ns, other.duration_ns]) },
      { title: "Latency", isWide: true, fill: () => latencies(scene) },
    ]);
  },
};
