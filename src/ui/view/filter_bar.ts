// One filter bar for all views: a condition over the columns of `events`, and a stretch of time. What it holds stands in the address.

import { askFilter } from "../client/client";
import { go, place, selection } from "../model/place";
import { momentText } from "../model/words";
import { button, element, harmless } from "./elements";
import { editor, setText } from "./editor";

export interface FilterBar {
  root: HTMLElement;
  update(): void; // from the address
  focus(): void;
}

export function filterBar(columns: () => string[]): FilterBar {
  const wrong = element("p", { class: "error", role: "alert", id: "filter-error" });
  const span = element("span", { class: "chips" });

  const set = async (text: string): Promise<void> => {
    const where = text.trim();
    try {
      await askFilter(where);
      wrong.textContent = "";
      go({ where });
    } catch (error) {
      wrong.textContent = harmless(error instanceof Error ? error.message : String(error));
    }
  };
  const line = editor({
    label: "Filter",
    text: place().words.get("where") ?? "",
    isOneLine: true,
    hint: "filter: comm = 'postgres' AND bytes > 4096   (Enter)",
    names: columns,
    run: (text) => void set(text),
  });

  const update = (): void => {
    setText(line, place().words.get("where") ?? "");
    wrong.textContent = "";
    const { where, from_ns, to_ns } = selection();
    const chips: HTMLElement[] = [];
    if (where !== undefined) {
      chips.push(button("clear filter", () => go({ where: null })));
    }
    if (from_ns !== undefined || to_ns !== undefined) {
      const words = `${momentText(from_ns ?? 0)} … ${to_ns === undefined ? "end" : momentText(to_ns)}`;
      chips.push(element("span", { class: "chip", id: "span" }, words), button("all time", () => go({ from: null, to: null })));
    }
    span.replaceChildren(...chips);
  };
  update();
  const root = element("div", { id: "filter", role: "search" }, line.dom, span, wrong);
  return { root, update, focus: () => line.focus() };
}
