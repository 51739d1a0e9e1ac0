// The page: its head, its filter bar, and the view that the address names.

import type { Names, Trace } from "./generated/api";
import { askNames, askTrace, isAway } from "./client/client";
import { fetchExamples } from "./model/examples";
import { address, go, place } from "./model/place";
import { applyTheme, onThemeOfSystem, switchTheme } from "./model/theme";
import { compare } from "./view/compare";
import { asking, button, element, failure, harmless, note } from "./view/elements";
import { fileView } from "./view/file";
import { filterBar } from "./view/filter_bar";
import { Head } from "./view/head";
import { showHelp } from "./view/help";
import { overview } from "./view/overview";
import { queryView } from "./view/query";
import { sockets } from "./view/sockets";
import { spaceTime } from "./view/space_time";
import { trail } from "./view/trail";
import { timeline } from "./view/timeline";
import type { View } from "./view/view";
import { waitingBar } from "./view/waiting";

const AGE_MS = 1000; // between two looks at how old it is
const LOOK_AGAIN_MS = 2000; // at a trace that is being recorded
const RESTS = 3; // times as long as a view took it is left alone: its questions keep a quarter of a CPU busy at most

const names: Promise<Names> = askNames().catch(() => ({ sql: [], columns: [] })); // without them nothing is completed
const namesFor = async (what: keyof Names): Promise<string[]> => (await names)[what];
const VIEWS: View[] = [
  overview,
  timeline,
  spaceTime,
  trail,
  fileView,
  sockets,
  compare,
  queryView(() => namesFor("sql")),
];

function part(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) {
    throw new Error(`index.html has no '${id}'`);
  }
  return found;
}

const bar = filterBar(() => namesFor("columns"));
const head = new Head(part("trace"), () => void look("wanted"));
let trace: Trace | null = null;
let rested_ms = 0; // from when on the view may be asked for again unasked
let leaving = new AbortController();
let shown = "";

const viewHere = (): View => VIEWS.find(({ name }) => name === place().view) ?? overview;

function showTabs(): void {
  const here = viewHere();
  part("views").replaceChildren(
    ...VIEWS.map((view) =>
      element(
        "a",
        { href: address(view.name), title: `key ${view.key}`, ...(view === here ? { "aria-current": "page" } : {}) },
        view.title,
      ),
    ),
  );
}

async function show(isAgain: boolean): Promise<void> {
  if (trace === null) {
    return;
  }
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving,
    begun_ms = performance.now(),
    info = trace;
  const main = part("view"),
    view = viewHere();
  if (shown !== view.name) {
    main.replaceChildren(asking("reading the trace…"));
    main.scrollTop = 0;
    head.leave();
  }
  shown = view.name;
  document.getElementById("stopped")?.remove();
  main.dataset["view"] = view.name;
  main.setAttribute("aria-busy", "true");
  try {
    await view.show({ main, place: place(), trace: info, signal, isAgain });
  } catch (error) {
    if (!signal.aborted) {
      main.replaceChildren(failure(error));
    }
  }
  if (!signal.aborted) {
    main.removeAttribute("aria-busy");
    head.draw(info, begun_ms);
    rested_ms = performance.now() + RESTS * (performance.now() - begun_ms);
  }
}

// What is answered stays.
function stop(): void {
  leaving.abort();
  part("view").removeAttribute("aria-busy");
  if (trace !== null) {
    head.draw(trace, performance.now());
  }
  for (const waits of part("view").querySelectorAll(".asking")) {
    waits.replaceWith(note("stopped"));
  }
  part("view").prepend(
    element(
      "p",
      { id: "stopped" },
      "Stopped: not all questions were answered. ",
      button("Ask again", () => void show(false)),
    ),
  );
}

function showHead(info: Trace): void {
  head.know(info);
  part("losses").textContent = harmless([info.losses, ...info.damages].filter((words) => words !== "").join(" · "));
  document.title = `${harmless(info.path.split("/").at(-1) ?? "")} · dyetrace`;
}

async function look(why: "first" | "again" | "wanted"): Promise<void> {
  const isAgain = why !== "first";
  try {
    [trace] = await Promise.all([askTrace(), fetchExamples()]);
    showHead(trace);
    const isNew = head.isBehind || viewHere().isBehind?.(trace) === true;
    const isTime = why === "wanted" || !trace.is_recording || performance.now() >= rested_ms;
    if (!isAgain || (isNew && head.isFollowing && !isBusy() && isTime)) {
      void show(isAgain); // what is known is told while it is asked
    }
  } catch (error) {
    part("losses").replaceChildren(failure(error));
  }
}

// Nothing is drawn anew under somebody who writes or chooses.
const isBusy = (): boolean => part("view").contains(document.activeElement) || part("view").hasAttribute("aria-busy");

// A server that ended may come back at the same address. What is known of a recording is told also to who holds the view or is in it.
async function follow(): Promise<void> {
  if (isAway()) {
    await look("first");
  } else if ((trace?.is_recording === true || (head.isBehind && !isBusy())) && !document.hidden) {
    await look("again");
  }
  setTimeout(() => void follow(), LOOK_AGAIN_MS);
}

const SHORTCUTS: Record<string, () => void> = {
  "/": () => bar.focus(),
  "?": () => showHelp(VIEWS),
  r: () => bar.focusStretch(),
  "0": () => go({ from: null, to: null }),
  x: () => go({ where: null }),
  t: () => {
    switchTheme();
    void show(false);
  },
};

function onKey(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  const isWriting = target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
  if (event.key === "Escape" && isWriting) {
    target.blur();
  }
  if (isWriting || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]") !== null) {
    return;
  }
  const view = VIEWS.find(({ key }) => key === event.key);
  const does = view === undefined ? SHORTCUTS[event.key] : (): void => void (location.hash = address(view.name));
  if (does !== undefined) {
    event.preventDefault();
    does();
  }
}

applyTheme();
onThemeOfSystem(() => {
  applyTheme();
  void show(false);
});
part("bar").replaceChildren(bar.root);
part("tools").replaceChildren(
  button("◐", SHORTCUTS["t"] as () => void, { "aria-label": "Light or dark", title: "key t" }),
  button("?", SHORTCUTS["?"] as () => void, { "aria-label": "Keys", title: "key ?" }),
);
window.addEventListener("hashchange", () => {
  showTabs();
  bar.update();
  void show(false);
});
document.addEventListener("keydown", onKey);
document.body.append(waitingBar(stop));
showTabs();
setInterval(() => head.tell(), AGE_MS);
void look("first").then(follow);
