// SQL, and its rows as a table, a chart or a file. What is asked stands in the address.

import type { FileFormat, Rows } from "../generated/api";
import * as Plot from "@observablehq/plot";
import { askFile, askSql } from "../client/client";
import { example } from "../model/examples";
import { address, go, selection } from "../model/place";
import { colour } from "../model/theme";
import { bytesText, durationText, momentText } from "../model/words";
import { figure } from "./charts";
import { asking, button, choice, element, failure, note, table, type Child } from "./elements";
import { editor } from "./editor";
import { download, exportButtons } from "./save";
import type { Scene, View } from "./view";

const BARS_MAX = 60;

const scaleText =
  (column: string) =>
  (value: number): string =>
    column.endsWith("_ns")
      ? column === "at_ns"
        ? momentText(value)
        : durationText(value)
      : column.endsWith("bytes")
        ? bytesText(value)
        : value.toLocaleString("en");

// Numbers over numbers are points, numbers over names are bars; the first number that is not the first column is the height.
function chart(rows: Rows): Child {
  const isNumber = (index: number): boolean => rows.columns[index]?.kind === "number";
  const y = rows.columns.findIndex((_, index) => index > 0 && isNumber(index));
  const x = rows.columns[0],
    height = rows.columns[y];
  if (x === undefined || height === undefined || rows.rows.length === 0) {
    return note("a chart needs a first column to lie along, and a column of numbers after it");
  }
  const data = rows.rows.map((row) => ({ x: row[0], y: Number(row[y] ?? 0) }));
  const words = { name: "query", title: `${height.name} by ${x.name}` };
  const text = scaleText(height.name);
  if (isNumber(0)) {
    return figure(words, {
      x: { label: x.name, tickFormat: scaleText(x.name) },
      y: { label: height.name, grid: true, tickFormat: text },
      height: 320,
      marks: [
        Plot.dot(data, {
          x: "x",
          y: "y",
          r: 2,
          fill: colour("mark"),
          title: (row: { x: number; y: number }) => `${row.x}: ${text(row.y)}`,
        }),
      ],
    });
  }
  const bars = data
    .slice(0, BARS_MAX)
    .map((row, index) => ({ ...row, x: `${row.x ?? "NULL"}`.slice(0, 40) || `row ${index}` }));
  return figure(words, {
    x: { label: height.name, grid: true, tickFormat: text },
    y: { label: null, domain: bars.map((row) => row.x) },
    marginLeft: 240,
    height: 40 + bars.length * 20,
    marks: [
      Plot.barX(bars, {
        x: "y",
        y: "x",
        fill: colour("mark"),
        title: (row: { x: string; y: number }) => `${row.x}: ${text(row.y)}`,
      }),
    ],
  });
}

function saveAs(sql: () => string, said: HTMLElement): HTMLElement {
  const save = async (format: FileFormat): Promise<void> => {
    said.replaceChildren(note("making the file…"));
    try {
      download(`rows.${format}`, await askFile(sql(), selection(), format));
      said.replaceChildren();
    } catch (error) {
      said.replaceChildren(failure(error));
    }
  };
  return element(
    "span",
    { class: "save" },
    ...(["csv", "json", "parquet"] as const).map((format) =>
      button(format === "parquet" ? "Parquet" : format.toUpperCase(), () => void save(format)),
    ),
  );
}

export const queryView = (names: () => Promise<string[]>): View => ({
  name: "query",
  title: "Query",
  key: "8",
  async show(scene: Scene) {
    const asked = scene.place.parameters.get("sql");
    const shape = scene.place.parameters.get("as") ?? "table";
    const run = (sql: string): void => {
      const next = address("query", { sql, as: shape === "table" ? null : shape });
      if (location.hash === next) {
        window.dispatchEvent(new HashChangeEvent("hashchange"));
      } else {
        location.hash = next;
      }
    };
    const writing = editor({ label: "SQL", text: asked ?? example("first"), isOneLine: false, names, run });
    const written = (): string => writing.state.doc.toString();
    const answer = element("section", { "aria-live": "polite", id: "answer" }),
      said = element("div");
    const stop = button("Cancel", () => go({ sql: null }));
    const old = scene.isAgain ? document.getElementById("answer") : null;
    if (old === null) {
      scene.main.replaceChildren(
        element("div", { class: "editor" }, writing.dom),
        element(
          "div",
          { class: "row" },
          button("Run", () => run(written()), { class: "main", title: "Ctrl+Enter" }),
          choice(
            "Shape",
            [
              ["table", "table"],
              ["chart", "chart"],
            ],
            shape,
            (as) => go({ sql: written(), as }),
          ),
          saveAs(written, said),
          exportButtons(() => selection()),
          element(
            "span",
            { class: "faint" },
            "selected is events as the filter bar leaves them, with at_ns, process, verb, target",
          ),
        ),
        said,
        answer,
      );
    }
    if (asked === null) {
      return;
    }
    const shown = old ?? answer;
    if (old === null) {
      shown.replaceChildren(asking("asking… ", stop));
    }
    const begun = performance.now();
    try {
      const rows = await askSql(asked, selection(), scene.signal);
      const words = `${rows.rows.length.toLocaleString("en")} rows${rows.is_cut ? ", and more (a file has all)" : ""} · ${((performance.now() - begun) / 1000).toFixed(2)} s`;
      shown.replaceChildren(
        note(rows.losses === "" ? words : `${words} · the trace has ${rows.losses}`),
        shape === "chart" ? chart(rows) : table(rows.columns, rows.rows, "Answer"),
      );
    } catch (error) {
      if (!scene.signal.aborted) {
        shown.replaceChildren(failure(error));
      }
    }
  },
});
