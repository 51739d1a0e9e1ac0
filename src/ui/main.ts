// The page: its head, and the view that the address names.

import { askTrace } from "./client/client";
import { address, place } from "./model/place";
import { element, failure, harmless } from "./view/elements";
import { showOverview } from "./view/overview";
import { showQuery } from "./view/query";

const VIEWS: [string, string][] = [
  ["overview", "Overview"],
  ["query", "Query"],
];

function part(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) {
    throw new Error(`index.html has no '${id}'`);
  }
  return found;
}

let leaving = new AbortController();

function show(): void {
  leaving.abort();
  leaving = new AbortController();
  const here = place();
  const view = VIEWS.some(([name]) => name === here.view) ? here.view : "overview";
  part("views").replaceChildren(
    ...VIEWS.map(([name, title]) => element("a", { href: address(name), ...(name === view ? { "aria-current": "page" } : {}) }, title)),
  );
  if (view === "query") {
    showQuery(part("view"), here, leaving.signal);
  } else {
    void showOverview(part("view"), leaving.signal);
  }
}

async function showHead(): Promise<void> {
  try {
    const trace = await askTrace();
    part("trace").textContent = harmless(trace.path) + (trace.is_recording ? " · still recording" : "");
    part("losses").textContent = harmless([trace.losses, ...trace.damages].filter((words) => words !== "").join(" · "));
    document.title = `${harmless(trace.path)} · dyetrace`;
  } catch (error) {
    part("losses").replaceChildren(failure(error));
  }
}

window.addEventListener("hashchange", show);
void showHead();
show();
