// What happened, on one screen: what `dyetrace report` says.

import { askReport, type Cell, type QueryColumn, type Report } from "../client/client";
import { address } from "../model/place";
import { amountText, titleText } from "../model/words";
import { element, failure, harmless, table } from "./elements";

const TABLES: [string, string][] = [
  ["activities", "What happened"],
  ["files", "Files with most bytes"],
  ["sockets", "Connections with most bytes"],
  ["calls", "Calls that took most time"],
  ["threads", "Time blocked inside calls"],
];

function rowsOf(report: Report, name: string): { columns: QueryColumn[]; rows: Cell[][] } {
  const objects = (report[name] ?? []) as Record<string, Cell>[];
  const names = Object.keys(objects[0] ?? {});
  const isNumber = (column: string): boolean => objects.every((object) => typeof object[column] === "number");
  const words = (column: string, cell: Cell): Cell => (typeof cell === "number" ? amountText(column, cell) : cell);
  return {
    columns: names.map((column) => ({ name: titleText(column), kind: isNumber(column) ? "number" : "text" })),
    rows: objects.map((object) => names.map((column) => words(column, object[column] ?? null))),
  };
}

export async function showOverview(main: HTMLElement, signal: AbortSignal): Promise<void> {
  main.replaceChildren(element("p", { class: "faint" }, "reading the trace…"));
  try {
    const report = await askReport(signal);
    const parts: HTMLElement[] = [];
    if (report.findings.length > 0) {
      parts.push(
        element("h2", {}, "Worth a look"),
        element(
          "ul",
          { class: "findings" },
          ...report.findings.map((finding) =>
            element("li", {}, harmless(finding.text) + " ", element("a", { href: address("query", { sql: finding.query }) }, "events")),
          ),
        ),
      );
    }
    for (const [name, title] of TABLES) {
      const { columns, rows } = rowsOf(report, name);
      if (rows.length > 0) {
        parts.push(element("h2", {}, title), table(columns, rows, title));
      }
    }
    main.replaceChildren(...parts);
  } catch (error) {
    if (!signal.aborted) {
      main.replaceChildren(failure(error));
    }
  }
}
