// Where one is on the page, which its address says: #timeline?where=comm+%3D+'cat'&from=0&to=1000000&lane=7
// So the back button works, and an address can be kept or sent. `where`, `from` and `to` are of all views and go along from one to the other;
// other parameters are of the view.

import type { Selection } from "../generated/api";

const COMMON = ["where", "from", "to"];

export interface Place {
  view: string;
  parameters: URLSearchParams;
}

export function place(): Place {
  const [view = "", parameters = ""] = location.hash.replace(/^#/, "").split(/\?(.*)/s, 2);
  return { view, parameters: new URLSearchParams(parameters) };
}

function addressOf(view: string, parameters: URLSearchParams): string {
  const text = parameters.toString();
  return "#" + view + (text === "" ? "" : "?" + text);
}

// A parameter that is null is left out.
function changed(parameters: URLSearchParams, changes: Record<string, string | null>): URLSearchParams {
  for (const [key, value] of Object.entries(changes)) {
    if (value === null || value === "") {
      parameters.delete(key);
    } else {
      parameters.set(key, value);
    }
  }
  return parameters;
}

// Leads to another view, with the same selection.
export function address(view: string, changes: Record<string, string | null> = {}): string {
  const parameters = new URLSearchParams([...place().parameters].filter(([key]) => COMMON.includes(key)));
  return addressOf(view, changed(parameters, changes));
}

// Leads to this view, with some parameters changed.
export function addressHere(changes: Record<string, string | null>): string {
  const here = place();
  return addressOf(here.view, changed(here.parameters, changes));
}

export function go(changes: Record<string, string | null>): void {
  location.hash = addressHere(changes);
}

// Without a step for the back button and without showing the view anew: for what changes many times a second.
export function note(changes: Record<string, string | null>): void {
  history.replaceState(null, "", addressHere(changes));
}

export function selection(here: Place = place()): Selection {
  const number = (name: string): number | null => {
    const text = here.parameters.get(name);
    return text === null || !Number.isFinite(Number(text)) ? null : Math.round(Number(text));
  };
  const where = here.parameters.get("where");
  const [from_ns, to_ns] = [number("from"), number("to")];
  return {
    ...(where === null ? {} : { where }),
    ...(from_ns === null ? {} : { from_ns }),
    ...(to_ns === null ? {} : { to_ns }),
  };
}

// One more condition in the filter bar.
export function andWhere(condition: string): string {
  const where = place().parameters.get("where");
  return where === null
    ? condition
    : /\bOR\b/i.test(where)
      ? `(${where}) AND ${condition}`
      : `${where} AND ${condition}`;
}

export const sqlText = (text: string): string => `'${text.replaceAll("'", "''")}'`;
