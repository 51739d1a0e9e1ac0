// Elements of the page. What a trace says becomes text, never markup.

import type { Cell, Column } from "../generated/api";
import { HARMFUL } from "../generated/harmful";

export type Child = Node | string;

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

export function button(words: string, does: () => void, attributes: Record<string, string> = {}): HTMLButtonElement {
  const made = element("button", { type: "button", ...attributes }, words);
  made.addEventListener("click", does);
  return made;
}

const hex = (value: number): string => value.toString(16);
const HARMFUL_CHARACTER = new RegExp(
  `[${HARMFUL.map(([first, last]) => `\\u{${hex(first)}}-\\u{${hex(last)}}`).join("")}]`,
  "gu",
);
const LETTERS: Record<string, string> = { "\n": "\\n", "\t": "\\t", "\r": "\\r" };

function visible(character: string): string {
  const value = character.codePointAt(0) ?? 0;
  if (value < 0x80) {
    return LETTERS[character] ?? `\\x${hex(value).padStart(2, "0")}`;
  }
  return value <= 0xffff ? `\\u${hex(value).padStart(4, "0")}` : `\\u{${hex(value)}}`;
}

// What src/base/harmless.h makes of it on a terminal: \x1b, \n, \u202e, \u{e0041}.
export const harmless = (text: string): string => text.replace(HARMFUL_CHARACTER, visible);

// What is shown as one thing, of harmless text: an escape, or a character, which may be two of UTF-16.
const SHOWN_AS_ONE = /\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|u\{[0-9a-f]+\}|[a-z\\])|[^]/gu;

// The first of them that have `most` letters together, or fewer.
function firstOf(parts: string[], most: number): string[] {
  let letters = 0;
  const end = parts.findIndex((part) => (letters += part.length) > most);
  return end === -1 ? parts : parts.slice(0, end);
}

// A name that may have 4,000 characters: its begin and its end.
export function short(text: string, most = 80): string {
  if (text.length <= most) {
    return text;
  }
  const parts = text.match(SHOWN_AS_ONE) ?? [],
    begin = firstOf(parts, Math.floor(most / 2)),
    end = firstOf([...parts].reverse(), Math.ceil(most / 2) - 1).reverse();
  return `${begin.join("")}…${end.join("")}`;
}

export type CellMaker = (value: Cell, row: Cell[]) => Child;

// A click on a cell that says more in its title than in itself (an amount in words, a name that was cut) shows that, to be copied; another one takes it back.
function unfold({ target }: MouseEvent): void {
  const cell =
    target instanceof Element && target.closest("a, button") === null ? target.closest<HTMLElement>("td[title]") : null;
  if (cell === null || !(getSelection()?.isCollapsed ?? true)) {
    return; // somebody chooses letters to copy
  }
  const before = cell.querySelector(":scope > template");
  if (before instanceof HTMLTemplateElement) {
    cell.replaceChildren(...before.content.childNodes);
    cell.classList.remove("whole");
  } else if (cell.textContent !== cell.title || cell.scrollWidth > cell.clientWidth) {
    const kept = element("template");
    kept.content.append(...cell.childNodes);
    cell.replaceChildren(cell.title, kept);
    cell.classList.add("whole");
  }
}

// `makers` by the name of the column: how its cells look, where it is not their text.
export function table(
  columns: Column[],
  rows: Cell[][],
  caption: string,
  makers: Record<string, CellMaker> = {},
): HTMLElement {
  const kind = (index: number): Record<string, string> =>
    columns[index]?.kind === "number" ? { class: "number" } : {};
  // What EXPLAIN draws has lines, on a terminal too.
  const words = (value: Cell, index: number): string =>
    columns[index]?.name === "explain_value"
      ? String(value).split("\n").map(harmless).join("\n")
      : harmless(String(value));
  const cell = (value: Cell, index: number, row: Cell[]): HTMLElement => {
    const make = makers[columns[index]?.name ?? ""];
    if (make !== undefined) {
      return element(
        "td",
        { ...kind(index), ...(value === null ? {} : { title: words(value, index) }) },
        make(value, row),
      );
    }
    return value === null
      ? element("td", { class: "null " + (kind(index).class ?? "") }, "NULL")
      : element("td", { ...kind(index), title: words(value, index) }, words(value, index));
  };
  const body = element(
    "tbody",
    {},
    ...rows.map((row) => element("tr", {}, ...row.map((value, index) => cell(value, index, row)))),
  );
  body.addEventListener("click", unfold);
  return element(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    element(
      "table",
      { "aria-label": caption },
      element(
        "thead",
        {},
        element("tr", {}, ...columns.map((c, i) => element("th", { scope: "col", ...kind(i) }, harmless(c.name)))),
      ),
      body,
    ),
  );
}

export function failure(error: unknown): HTMLElement {
  return element(
    "p",
    { class: "error", role: "alert" },
    harmless(error instanceof Error ? error.message : String(error)),
  );
}

// Stands where an answer will be.
export const asking = (...children: Child[]): HTMLElement => element("p", { class: "faint asking" }, ...children);

export const note = (words: string): HTMLElement => element("p", { class: "faint" }, words);

// What a view lacks, and what to record to get it.
export function lacking(what: string, command: string): HTMLElement {
  return element("p", { class: "lacking" }, what + " ", element("code", {}, command));
}

export function section(title: string, ...children: Child[]): HTMLElement {
  return element("section", { "aria-label": title }, element("h2", {}, title), ...children);
}

// A choice among few, as buttons in a row.
export function choice(
  label: string,
  options: [string, string][],
  chosen: string,
  choose: (name: string) => void,
): HTMLElement {
  return element(
    "div",
    { class: "choice", role: "group", "aria-label": label },
    ...options.map(([name, title]) =>
      button(title, () => choose(name), { "aria-pressed": String(name === chosen), "data-choice": name }),
    ),
  );
}
