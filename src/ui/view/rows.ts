// Rows of an answer as people read them: amounts are in words, and links lead to what they stand for.

import type { Cell, Column, Parameter, Rows, RowsName } from "../generated/api";
import { askRows } from "../client/client";
import { example } from "../model/examples";
import { address, andWhere, selection, sqlText } from "../model/place";
import { amountText, titleText } from "../model/words";
import { element, harmless, short, table, type CellMaker, type Child } from "./elements";

// The events of a row, in the view Query.
export const eventsAddress = (condition: string): string => address("query", { sql: example("events", { condition }) });

// The calls of a row about sockets: those of socket_uses() or socket_calls() of which the condition holds.
export const socketCallsAddress = (calls: string, condition: string): string =>
  address("query", { sql: example("socket_calls", { calls, condition }) });

// The condition that says a process to people: by its pid. A process of which no fact is known has its id only.
export const whoOf = (row: Record<string, Cell>): string =>
  row["who"] == null
    ? `process_id ${row["process_id"] == null ? "IS NULL" : `= ${String(row["process_id"])}`}`
    : String(row["who"]);

// The condition that a column is this text.
export const isText = (column: string, cell: Cell | undefined): string =>
  cell == null ? `${column} IS NULL` : `${column} = ${sqlText(String(cell))}`;

// The condition on the calls that acted on an object, whichever of their objects it is.
export const usesOf = (object: string): string => `(object_id = ${object} OR object2_id = ${object})`;

// Words that add a condition to the filter bar, in this view or another one.
export function filterLink(words: string, condition: string, view: string): HTMLElement {
  return element(
    "a",
    { href: address(view, { where: andWhere(condition) }), title: `only ${harmless(words)}` },
    short(harmless(words), 60),
  );
}

export const eventsLink = (words: string, condition: string): HTMLElement =>
  element("a", { href: eventsAddress(condition) }, words);

export interface Wanted {
  name: RowsName;
  parameters?: Record<string, Parameter>;
  signal: AbortSignal;
  caption: string;
  hidden?: string[]; // columns that only the links need
  link?: Record<string, (row: Record<string, Cell>, words: string) => Child>;
}

function asWords(column: string, cell: Cell): string {
  return cell === null ? "–" : typeof cell === "number" ? amountText(column, cell) : harmless(String(cell));
}

export function rowsTable(rows: Rows, wanted: Omit<Wanted, "name" | "parameters" | "signal">): HTMLElement {
  const names = rows.columns.map(({ name }) => name);
  const shown = names.map((_, index) => index).filter((index) => !(wanted.hidden ?? []).includes(names[index] ?? ""));
  const columns: Column[] = shown.map((index) => ({
    name: titleText(names[index] ?? ""),
    kind: rows.columns[index]?.kind ?? "text",
  }));
  const makers: Record<string, CellMaker> = {};
  for (const index of shown) {
    const name = names[index] ?? "";
    makers[titleText(name)] = (value, row) => {
      const whole = Object.fromEntries(
        names.map((key, i) => [key, (row as unknown as { whole: Cell[] }).whole[i] ?? null]),
      );
      const words = asWords(name, value);
      return wanted.link?.[name]?.(whole, words) ?? short(words, 60);
    };
  }
  // A row keeps all of its cells, for the links.
  const cells = rows.rows.map((whole) =>
    Object.assign(
      shown.map((index) => whole[index] ?? null),
      { whole },
    ),
  );
  return table(columns, cells, wanted.caption, makers);
}

// Asks, and shows the rows; nothing if there are none.
export async function askedTable(wanted: Wanted): Promise<Child[]> {
  const { name, parameters = {}, signal } = wanted;
  const rows = await askRows({ name, parameters, selection: selection(), signal });
  return rows.rows.length === 0 ? [] : [rowsTable(rows, wanted)];
}
