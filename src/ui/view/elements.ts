// Elements of the page. What a trace says becomes text, never markup.

import type { Cell, QueryColumn } from "../client/client";

type Child = Node | string;

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Record<string, string> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

// Control characters, and those that turn the direction of text, as \x1b and \u202e.
export function harmless(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (c) => {
    const code = c.charCodeAt(0);
    return code < 256 ? "\\x" + code.toString(16).padStart(2, "0") : "\\u" + code.toString(16);
  });
}

export function table(columns: QueryColumn[], rows: Cell[][], caption: string): HTMLElement {
  const kind = (index: number): Record<string, string> => (columns[index]?.kind === "number" ? { class: "number" } : {});
  const cell = (value: Cell, index: number): HTMLElement =>
    value === null
      ? element("td", { class: "null " + (kind(index).class ?? "") }, "NULL")
      : element("td", { ...kind(index), title: harmless(String(value)) }, harmless(String(value)));
  return element(
    "div",
    { class: "scroll" },
    element(
      "table",
      { "aria-label": caption },
      element("thead", {}, element("tr", {}, ...columns.map((c, i) => element("th", { scope: "col", ...kind(i) }, harmless(c.name))))),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cell)))),
    ),
  );
}

export function failure(error: unknown): HTMLElement {
  return element("p", { class: "error", role: "alert" }, harmless(error instanceof Error ? error.message : String(error)));
}
