// One filter bar for all views: a condition over the columns of `events`, and a stretch of time. What holds stands in the address; text that does not hold, for nobody pressed
// Enter yet or because it is no condition, says so.

import { askFilter } from "../client/client";
import { go, place, selection } from "../model/place";
import { momentText, stretchIn } from "../model/words";
import { button, element, harmless } from "./elements";
import { editor, setText } from "./editor";

export interface FilterBar {
  root: HTMLElement;
  update(): void; // from the address
  focus(): void;
  focusStretch(): void;
}

export function filterBar(columns: () => Promise<string[]>): FilterBar {
  const wrong = element("p", { class: "error", role: "alert", id: "filter-error" });
  const chips = element("span", { class: "chips" });
  const held = { where: "", stretch: "" }; // as the two fields show what holds
  const pending = element("span", { class: "chips", id: "not-in-force", role: "status" });
  const stretch = element("input", {
    id: "stretch",
    "aria-label": "Stretch of time",
    placeholder: "time: 0.5 s … 2 s",
    spellcheck: "false",
    autocomplete: "off",
  });

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
    text: place().parameters.get("where") ?? "",
    isOneLine: true,
    hint: "filter: comm = 'postgres' AND bytes > 4096   (Enter)",
    names: columns,
    run: (text) => void set(text),
    changed: () => tellPending(),
  });
  const setStretch = (): void => {
    const wanted = stretch.value.trim() === "" ? { from: null, to: null } : stretchIn(stretch.value);
    if (wanted === null) {
      wrong.textContent = harmless(`'${stretch.value}' is no stretch of time: 300 ms … 1.2 s is one, or … 5:33:20 h`);
    } else {
      go({
        from: wanted.from === null ? null : String(wanted.from),
        to: wanted.to === null ? null : String(wanted.to),
      });
    }
  };
  const tellPending = (): void => {
    const isWhere = line.state.doc.toString().trim() !== held.where.trim(),
      isStretch = stretch.value.trim() !== held.stretch.trim();
    const said = pending.dataset["of"] ?? "",
      now = `${isWhere ? "filter" : ""}${isStretch ? "stretch" : ""}`;
    if (said === now) {
      return; // who is about to press its button finds it there
    }
    pending.dataset["of"] = now;
    pending.replaceChildren(
      ...(now === "" ? [] : ["not in force: "]),
      ...(isWhere ? [button("apply the filter", () => void set(line.state.doc.toString()))] : []),
      ...(isStretch ? [button("apply the time", setStretch)] : []),
    );
  };

  const update = (): void => {
    held.where = place().parameters.get("where") ?? "";
    setText(line, held.where);
    wrong.textContent = "";
    const { where, from_ns, to_ns } = selection();
    const isPart = from_ns !== undefined || to_ns !== undefined,
      step_ns = ((to_ns ?? Infinity) - (from_ns ?? 0)) / 1000;
    stretch.value = isPart
      ? `${momentText(from_ns ?? 0, step_ns)} … ${to_ns === undefined ? "end" : momentText(to_ns, step_ns)}`
      : "";
    held.stretch = stretch.value;
    tellPending();
    chips.replaceChildren(
      ...(isPart ? [button("all time", () => go({ from: null, to: null }), { id: "all-time" })] : []),
      ...(where === undefined ? [] : [button("clear filter", () => go({ where: null }))]),
    );
  };
  stretch.addEventListener("input", tellPending);
  stretch.addEventListener("keydown", ({ key }) => {
    if (key === "Enter") {
      setStretch();
    }
  });
  update();
  const root = element("div", { id: "filter", role: "search" }, line.dom, stretch, pending, chips, wrong);
  return { root, update, focus: () => line.focus(), focusStretch: () => (stretch.focus(), stretch.select()) };
}
