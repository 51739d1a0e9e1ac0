// What stands above a timeline: what colours mean, zoom, folding, flows, saving.

import type { Colouring } from "../client/timeline";
import { button, choice, element } from "./elements";
import { saveButtons } from "./save";
import { legend } from "./timeline_drawing";

export interface BarActions {
  colouring: Colouring;
  name: string; // of the file that it is saved as
  hasFlows: boolean;
  colour(name: string): void;
  flows: (() => void) | null; // none: there is no such button
  zoom(factor: number): void;
  all(): void;
  foldAll(isOpen: boolean): void;
  svg(): string;
  exports: HTMLElement | null; // made once: it says how far a file is
}

const COLOURINGS: [Colouring, string][] = [
  ["class", "class"],
  ["content", "content"],
  ["latency", "latency"],
];

export const colouringIn = (parameters: URLSearchParams): Colouring => {
  const word = parameters.get("colour");
  return word === "content" || word === "latency" ? word : "class";
};

const group = (label: string, ...buttons: HTMLElement[]): HTMLElement =>
  element("span", { class: "choice", role: "group", "aria-label": label }, ...buttons);

export function barOf(actions: BarActions): HTMLElement[] {
  const items = legend(actions.colouring).map(([words, ink]) => {
    const swatch = element("span", { class: "swatch" });
    swatch.style.background = ink;
    return element("li", {}, swatch, words);
  });
  return [
    choice("colour by", COLOURINGS, actions.colouring, (name) => actions.colour(name)),
    group(
      "zoom",
      button("+", () => actions.zoom(0.5), { "aria-label": "zoom in" }),
      button("−", () => actions.zoom(2), { "aria-label": "zoom out" }),
      button("all", () => actions.all()),
    ),
    group(
      "processes",
      button("open all", () => actions.foldAll(true)),
      button("fold all", () => actions.foldAll(false)),
    ),
    ...(actions.flows === null
      ? []
      : [
          button("flows", actions.flows, {
            "aria-pressed": String(actions.hasFlows),
            title: "where bytes went, as arrows",
          }),
        ]),
    ...(actions.exports === null ? [] : [actions.exports]),
    saveButtons(actions.name, () => actions.svg()),
    element(
      "ul",
      { class: "legend", "aria-label": "colours" },
      ...items,
      element("li", { class: "faint" }, "pale: waiting · hatched: events are missing · red: failed"),
    ),
  ];
}
