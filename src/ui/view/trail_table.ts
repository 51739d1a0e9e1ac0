// A trail as LAASER drew it: time downwards, a column per process, in each line what a process did with these bytes.

import type { Certainty, Hop, Trail } from "../generated/api";
import { certaintyOfHops } from "../model/trail_graph";
import { bytesText, momentText } from "../model/words";
import { element, harmless, short } from "./elements";
import { eventsAddress } from "./rows";

const LINES_MAX = 500;

// All calls of a hop have its process, its name and its objects in common.
function callsOf(hop: Hop): string {
  const objects = [hop.object_id, hop.object2_id]
    .filter((id) => id !== null)
    .map((id) => `(object_id = ${id} OR object2_id = ${id})`);
  return [`process_id = ${hop.process_id}`, `name = '${hop.name}'`, ...objects].join(" AND ");
}

export const rangeText = ({ offset, offset_end }: Hop): string =>
  offset === null || offset_end === null
    ? ""
    : `bytes ${offset.toLocaleString("en")}–${offset_end.toLocaleString("en")}`;

// What was done, leading to its first event; after it how many calls, leading to all of them.
export function operation(hop: Hop, certainty: Certainty): HTMLElement {
  const words = [rangeText(hop), bytesText(hop.bytes), hop.is_start ? "start" : certainty]
    .filter((word) => word !== "")
    .join(" · ");
  return element(
    "div",
    { class: `operation ${certainty}`, "data-hop": String(hop.hop) },
    element(
      "a",
      { href: eventsAddress(`event_id = ${hop.first_event_id}`), title: harmless(hop.what) },
      `${harmless(hop.name)} ${short(harmless(hop.what), 44)}`,
    ),
    ...(hop.calls > 1
      ? [
          " ",
          element(
            "a",
            { href: eventsAddress(callsOf(hop)), title: "all calls alike" },
            `×${hop.calls.toLocaleString("en")}`,
          ),
        ]
      : []),
    element("div", { class: "faint" }, words),
    ...(hop.lost_sight
      ? [element("div", { class: "error" }, `sight lost: ${hop.lost_sight_because ?? "its output has none of it"}`)]
      : []),
  );
}

export function trailTable(trail: Trail): HTMLElement {
  const processes = new Map(trail.hops.map((hop) => [hop.process_id, hop.process]));
  const begin_ns = trail.hops[0]?.first_ns ?? 0,
    span_ns = (trail.hops.at(-1)?.first_ns ?? 0) - begin_ns;
  const certainties = certaintyOfHops(trail);
  const line = (hop: Hop): HTMLElement =>
    element(
      "tr",
      {},
      element(
        "th",
        { scope: "row", class: "number" },
        momentText(hop.first_ns - begin_ns, Math.min(span_ns / 1000, 1e6)),
      ),
      ...[...processes.keys()].map((id) =>
        element("td", {}, ...(id === hop.process_id ? [operation(hop, certainties[hop.hop] ?? "certain")] : [])),
      ),
    );
  return element(
    "div",
    { class: "scroll trail-table", tabindex: "0", role: "region", "aria-label": "Operations" },
    element(
      "table",
      { "aria-label": "Operations, a column per process" },
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          element("th", { scope: "col" }, "since the first"),
          ...[...processes.values()].map((name) => element("th", { scope: "col" }, harmless(name))),
        ),
      ),
      element("tbody", {}, ...trail.hops.slice(0, LINES_MAX).map(line)),
    ),
  );
}
