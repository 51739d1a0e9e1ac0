// The page: its head, its filter bar, and the view that the address names.

import type { Names, Trace } from "./generated/api";
import { askNames, askTrace, isAway } from "./client/client";
import { fetchExamples } from "./model/examples";
import { address, go, place } from "./model/place";
import { applyTheme, onThemeOfSystem, switchTheme } from "./model/theme";
import { durationText } from "./model/words";
import { compare } from "./view/compare";
import { asking, button, element, failure, harmless, note, short } from "./view/elements";
import { fileView } from "./view/file";
import { filterBar } from "./view/filter_bar";
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
let trace: Trace | null = null;
let leaving = new AbortController();
let isFollowing = true;
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
  const { signal } = leaving;
  const main = part("view"),
    view = viewHere();
  if (shown !== view.name) {
    main.replaceChildren(asking("reading the trace…"));
    main.scrollTop = 0;
  }
  shown = view.name;
  document.getElementById("stopped")?.remove();
  main.dataset["view"] = view.name;
  main.setAttribute("aria-busy", "true");
  try {
    await view.show({ main, place: place(), trace, signal, isAgain });
  } catch (error) {
    if (!signal.aborted) {
      main.replaceChildren(failure(error));
    }
  }
  if (!signal.aborted) {
    main.removeAttribute("aria-busy");
  }
}

// What is answered stays.
function stop(): void {
  leaving.abort();
  part("view").removeAttribute("aria-busy");
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

// When the newest call that the trace has returned: nothing came since, or what came is still on its way.
const seen = { age_ns: 0, at_ms: 0 };
const age = element("span", { id: "age" });

function showAge(): void {
  const s = (seen.age_ns / 1e6 + performance.now() - seen.at_ms) / 1e3;
  age.textContent = ` · newest call ${s < 1 ? "less than 1 s" : durationText(Math.floor(s) * 1e9)} ago`;
}

function showHead(info: Trace): void {
  const amount = `${info.events.toLocaleString("en")} events in ${durationText(info.duration_ns)}`;
  const hosts = info.hosts.length > 1 ? ` on ${info.hosts.length.toLocaleString("en")} hosts` : "";
  part("trace").replaceChildren(
    element("span", { title: harmless(info.path) }, short(harmless(info.path), 30)),
    ` · ${amount}${hosts}`,
  );
  if (info.is_recording) {
    part("trace").append(
      " · ",
      button(
        isFollowing ? "● recording, followed" : "recording, held",
        () => {
          isFollowing = !isFollowing;
          showHead(info);
        },
        { "aria-pressed": String(isFollowing), class: "live" },
      ),
      ...(info.events > 0 ? [age] : []),
    );
    showAge();
  }
  part("losses").textContent = harmless([info.losses, ...info.damages].filter((words) => words !== "").join(" · "));
  document.title = `${harmless(info.path.split("/").at(-1) ?? "")} · dyetrace`;
}

async function look(isAgain: boolean): Promise<void> {
  try {
    const before = trace;
    [trace] = await Promise.all([askTrace(), fetchExamples()]);
    Object.assign(seen, { age_ns: trace.age_ns, at_ms: performance.now() });
    showHead(trace);
    const isNew = before === null || trace.events !== before.events || trace.is_recording !== before.is_recording;
    if (!isAgain || isNew || viewHere().isBehind?.(trace) === true) {
      await show(isAgain);
    }
  } catch (error) {
    part("losses").replaceChildren(failure(error));
  }
}

// Nothing is drawn anew under somebody who writes or chooses.
const isBusy = (): boolean =>
  document.hidden || part("view").contains(document.activeElement) || part("view").hasAttribute("aria-busy");

// A server that ended may come back at the same address.
async function follow(): Promise<void> {
  if (isAway()) {
    await look(false);
  } else if (trace?.is_recording === true && isFollowing && !isBusy()) {
    await look(true);
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
setInterval(showAge, AGE_MS);
void look(false).then(follow);
