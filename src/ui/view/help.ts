// What `?` shows: every key of the page.

import { button, element } from "./elements";
import type { Key, View } from "./view";

const KEYS: Key[] = [
  { keys: "/", does: "write in the filter bar" },
  { keys: "r", does: "write a stretch of time: 300 ms … 1.2 s" },
  { keys: "Escape", does: "leave what one writes in; close this" },
  { keys: "0", does: "all of the time" },
  { keys: "x", does: "no filter" },
  { keys: "t", does: "light or dark" },
  { keys: "?", does: "these keys" },
  { keys: "Ctrl+Enter", does: "run what stands in the editor" },
  { keys: "arrows, Home, End", does: "on a chart: what it says there, as text below it; Escape: no more" },
  { keys: "arrows, Escape", does: "on the picture of space-time: the next call and its trail; all trails" },
  {
    keys: "wheel, drag",
    does: "timeline: zoom at the pointer, move; over the names, or with Shift, the wheel moves the lanes",
  },
  { keys: "Shift+drag", does: "timeline: select a stretch of time, in all views" },
  { keys: "arrows, Enter", does: "timeline: from lane to lane and from call to call; open the event, or fold the row" },
  { keys: "Home", does: "timeline: all of the trace, or of both" },
  { keys: "w s / a d", does: "timeline and space-time: zoom in and out, move left and right" },
];

export function showHelp(views: View[]): void {
  const dialog = element("dialog", { "aria-label": "Keys" });
  const row = ({ keys, does }: Key): HTMLElement =>
    element("tr", {}, element("th", { scope: "row" }, element("kbd", {}, keys)), element("td", {}, does));
  const close = button("Close", () => dialog.close());
  dialog.append(
    element("h2", {}, "Keys"),
    element(
      "table",
      {},
      element("tbody", {}, ...views.map((view) => row({ keys: view.key, does: view.title })), ...KEYS.map(row)),
    ),
    element(
      "p",
      { class: "note" },
      "The page contains code of others: ",
      element("a", { href: "licences.txt", target: "_blank" }, "their licences"),
    ),
    close,
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  close.focus();
}
