// Rows of an answer as people read them: amounts in words, what they stand for behind a link.

import { askRows, type Cell, type QueryColumn, type QueryRows } from "../client/client";
import { address, andWhere, selection } from "../model/place";
import { amountText, titleText } from "../model/words";
import { element, harmless, short, table, type CellMaker, type Child } from "./elements";

// The events behind a row, in the view Query: the columns that people look at first.
export const EVENTS =
  "SELECT at_ns, process, tid, name, target, error, bytes, duration_ns, file_offset, event_id FROM selected";

export const eventsAddress = (condition: string): string =>
  address("query", { sql: `${EVENTS}\nWHERE ${condition}\nORDER BY at_ns LIMIT 1000` });

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
  sql: string;
  signal: AbortSignal;
  caption: string;
  hidden?: string[]; // columns that only the links need
  link?: Record<string, (row: Record<string, Cell>, words: string) => Child>;
}

function asWords(column: string, cell: Cell): string {
  return cell === null ? "–" : typeof cell === "number" ? amountText(column, cell) : harmless(String(cell));
}

export function rowsTable(rows: QueryRows, wanted: Omit<Wanted, "sql" | "signal">): HTMLElement {
  const names = rows.columns.map(({ name }) => name);
  const shown = names.map((_, index) => index).filter((index) => !(wanted.hidden ?? []).includes(names[index] ?? ""));
  const columns: QueryColumn[] = shown.map((index) => ({
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
  const rows = await askRows(wanted.sql, selection(), wanted.signal);
  return rows.rows.length === 0 ? [] : [rowsTable(rows, wanted)];
}
