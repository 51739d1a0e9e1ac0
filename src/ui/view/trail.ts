// Where bytes went, or where they came from: a start that is typed or linked to, its trail as a graph or as a table.

import type { Certainty, Direction, Trail, TrailQuestion } from "../generated/api";
import { askRecords } from "../client/client";
import { askTrail } from "../client/trail";
import { address, addressHere, go, selection } from "../model/place";
import { certaintyOfHops, trailGraph, type Graph } from "../model/trail_graph";
import { colour } from "../model/theme";
import {
  asking,
  button,
  choice,
  element,
  failure,
  harmless,
  lacking,
  note,
  section,
  short,
  type Child,
} from "./elements";
import { framed } from "./readout";
import { svg } from "./svg";
import { DASHES, edgeWords, nameOfEdge, trailPicture } from "./trail_picture";
import { operation, trailTable } from "./trail_table";
import type { Scene, View } from "./view";

const HOPS_MAX = 400; // more is no picture; the table and the terminal have them
const STARTS_MAX = 12; // offered

const CERTAINTIES: [Certainty, string][] = [
  ["certain", "certain"],
  ["likely", "likely"],
  ["possible", "possible"],
];

function questionOf({ place }: Scene): Required<TrailQuestion> {
  const word = <T extends string>(name: string, among: T[], usual: T): T =>
    among.find((each) => each === place.parameters.get(name)) ?? usual;
  return {
    start: (place.parameters.get("start") ?? "").trim(),
    direction: word<Direction>("direction", ["forward", "back"], "forward"),
    min_certainty: word<Certainty>("certainty", ["certain", "likely", "possible"], "likely"),
    hops_max: HOPS_MAX,
  };
}

export const trailAddress = (start: string, direction: Direction = "forward"): string =>
  address("trail", { start, direction: direction === "back" ? "back" : null });

interface Starts {
  dyes: string[];
  paths: string[];
}

// What may be followed: dyes that were met, files that most bytes went to or came from.
async function startsOf({ signal }: Scene): Promise<Starts> {
  const parameters = { most: STARTS_MAX };
  const [dyes, files] = await Promise.all([
    askRecords({ name: "trail_dyes", parameters, selection: {}, signal }),
    askRecords({ name: "trail_files", parameters, selection: selection(), signal }),
  ]);
  return { dyes: dyes.map(({ dye }) => `dye:${String(dye)}`), paths: files.map(({ path }) => String(path)) };
}

function form(question: Required<TrailQuestion>): HTMLElement {
  const input = element("input", {
    id: "trail-start",
    type: "text",
    value: question.start,
    list: "trail-starts",
    "aria-label": "What to follow",
    spellcheck: "false",
    placeholder: "/srv/data, /srv/data:100-200, dye:NAME, event:123",
  });
  const made = element(
    "form",
    { class: "row trail-form" },
    input,
    element("datalist", { id: "trail-starts" }),
    element("button", { class: "main", type: "submit" }, "Follow"),
    choice(
      "Direction",
      [
        ["forward", "where it went"],
        ["back", "where it came from"],
      ],
      question.direction,
      (direction) => go({ start: input.value, direction: direction === "back" ? "back" : null, pick: null }),
    ),
    choice("At least", CERTAINTIES, question.min_certainty, (certainty) =>
      go({ start: input.value, certainty: certainty === "likely" ? null : certainty, pick: null }),
    ),
  );
  made.addEventListener("submit", (event) => {
    event.preventDefault();
    go({ start: input.value, pick: null });
  });
  return made;
}

function offers(starts: Starts): HTMLElement {
  const links = (names: string[]): HTMLElement =>
    element(
      "ul",
      { class: "starts" },
      ...names.map((start) =>
        element(
          "li",
          {},
          element(
            "a",
            { href: addressHere({ start, pick: null }), title: harmless(start) },
            short(harmless(start), 90),
          ),
        ),
      ),
    );
  return section(
    "What can be followed",
    ...(starts.dyes.length > 0
      ? [note("dyes that were met"), links(starts.dyes)]
      : [
          lacking(
            "No dye was looked for, or none was met: to know where a text goes, record with",
            "dyetrace record --content=anchors --dye NAME=TEXT …",
          ),
        ]),
    ...(starts.paths.length > 0
      ? [note("files with most bytes; FILE:FROM-TO is some bytes of one"), links(starts.paths)]
      : []),
    note("an event, by its event_id: click one in Space-time, or take its number from Query"),
  );
}

function summary(trail: Trail): string {
  const count = (of: unknown[], one: string, many: string): string =>
    `${of.length.toLocaleString("en")} ${of.length === 1 ? one : many}`;
  const processes = new Set(trail.hops.map(({ process_id }) => process_id));
  const links = (certainty: Certainty): Trail["links"] => trail.links.filter((link) => link.certainty === certainty);
  return [
    `${trail.question} · ${trail.direction === "forward" ? "where its bytes went" : "where its bytes came from"}`,
    count(trail.hops, "hop", "hops"),
    count([...processes], "process", "processes"),
    ...CERTAINTIES.map(([name]) => `${links(name).length} ${name}`),
    trail.gaps ?? "no gaps in this time",
  ].join(" · ");
}

// What the picture does not say by itself.
function remarks(trail: Trail): Child[] {
  const lost = trail.hops.filter((hop) => hop.lost_sight).length;
  return [
    ...(trail.hops_left_out > 0 || trail.is_cut
      ? [
          note(
            `The trail is longer: the first ${trail.hops.length} hops are shown. Follow fewer bytes (FILE:FROM-TO), or what is certain; dyetrace follow --json has all.`,
          ),
        ]
      : []),
    ...(Object.keys(selection()).length === 0
      ? []
      : [note("The filter bar leaves nothing out here: bytes are followed through all of the trace.")]),
    ...(trail.has_content
      ? []
      : [
          lacking(
            "Nobody saw what the bytes were: what a process took in and gave out again is not known to be the same. Record with",
            "dyetrace record --content=anchors …",
          ),
        ]),
    ...(lost > 0 && trail.min_certainty !== "possible"
      ? [
          element(
            "p",
            { class: "faint" },
            `Sight was lost ${lost === 1 ? "once" : `${lost} times`}: compressed, encrypted, or changed. `,
            element("a", { href: addressHere({ certainty: "possible", pick: null }) }, "go on with what is possible"),
          ),
        ]
      : []),
  ];
}

function legend(): HTMLElement {
  const line = ([certainty]: [Certainty, string]): HTMLElement =>
    element(
      "li",
      {},
      svg(
        "svg",
        { width: 34, height: 8, "aria-hidden": "true" },
        svg("path", { d: "M0,4H32", stroke: colour("text"), "stroke-width": 2, "stroke-dasharray": DASHES[certainty] }),
      ),
      ` ${certainty}`,
    );
  return element("ul", { class: "legend", "aria-label": "Lines" }, ...CERTAINTIES.map(line));
}

function startOfNode(label: string): string | null {
  return label.startsWith("/") || /^[a-z]+:\[\d+\]$/.test(label) ? label : null;
}

// What was picked: its operations, and the trails that begin there.
function details(trail: Trail, graph: Graph, pick: string): HTMLElement {
  const certainties = certaintyOfHops(trail);
  const node = graph.nodes.find(({ id }) => id === pick),
    edge = graph.edges.find((each) => nameOfEdge(each) === pick);
  const edges =
    node === undefined
      ? edge === undefined
        ? []
        : [edge]
      : graph.edges.filter(({ from, to }) => from === node.id || to === node.id);
  const hops = [...new Map(edges.flatMap((each) => each.hops).map((hop) => [hop.hop, hop])).values()].sort(
    (a, b) => a.hop - b.hop,
  );
  const start = node === undefined ? null : startOfNode(node.label);
  const title =
    node === undefined
      ? edgeWords(edge ?? { from: "", to: "", hops: [], bytes: 0, calls: 0, certainty: "certain" })
      : node.label;
  return section(
    harmless(title),
    ...(start === null
      ? []
      : [
          element(
            "p",
            {},
            element("a", { href: trailAddress(start) }, "where it went"),
            " · ",
            element("a", { href: trailAddress(start, "back") }, "where it came from"),
          ),
        ]),
    ...(node !== undefined && node.paths.length > 1
      ? [element("p", { class: "faint" }, harmless(node.paths.join("  ")))]
      : []),
    ...hops.map((hop) =>
      element(
        "div",
        { class: "picked" },
        element("span", {}, harmless(hop.process)),
        operation(hop, certainties[hop.hop] ?? "certain"),
      ),
    ),
    button("Close", () => go({ pick: null })),
  );
}

function drawn(trail: Trail, scene: Scene): Child[] {
  if (scene.place.parameters.get("as") === "table") {
    return [trailTable(trail)];
  }
  const graph = trailGraph(trail),
    pick = scene.place.parameters.get("pick") ?? "";
  const picture = trailPicture(graph, trail.question, scene.main.clientWidth - 70, pick, ({ name }) =>
    go({ pick: name === pick ? null : name }),
  );
  return [framed("trail", picture, "scroll"), ...(pick === "" ? [] : [details(trail, graph, pick)])];
}

// The last answer: to pick something in it asks nothing anew.
let last: { key: string; trail: Trail } | null = null;

async function trailOf(question: TrailQuestion, scene: Scene): Promise<Trail> {
  const key = JSON.stringify([question, scene.trace.path, scene.trace.events]);
  if (last?.key !== key) {
    last = { key, trail: await askTrail(question, scene.signal) };
  }
  return last.trail;
}

// Completes what is typed, when it is known.
function complete(starts: Starts): void {
  document
    .getElementById("trail-starts")
    ?.replaceChildren(...[...starts.dyes, ...starts.paths].map((start) => element("option", { value: start })));
}

async function show(scene: Scene): Promise<void> {
  const question = questionOf(scene);
  const answer = element("div", { id: "trail", "aria-live": "polite" });
  const isWriting = document.activeElement?.id === "trail-start";
  scene.main.replaceChildren(form(question), answer);
  if (isWriting) {
    document.getElementById("trail-start")?.focus();
  }
  const starting = startsOf(scene).then((starts) => (complete(starts), offers(starts)), failure);
  if (question.start === "") {
    answer.replaceChildren(await starting);
    return;
  }
  answer.replaceChildren(
    asking(
      "following… ",
      button("Cancel", () => go({ start: null })),
    ),
  );
  let trail: Trail;
  try {
    trail = await trailOf(question, scene);
  } catch (error) {
    if (!scene.signal.aborted) {
      answer.replaceChildren(failure(error), await starting);
    }
    return;
  }
  const shape = scene.place.parameters.get("as") === "table" ? "table" : "graph";
  answer.replaceChildren(
    element("p", { class: "summary" }, harmless(summary(trail))),
    element(
      "div",
      { class: "row" },
      choice(
        "Shape",
        [
          ["graph", "graph"],
          ["table", "table"],
        ],
        shape,
        (as) => go({ as: as === "graph" ? null : as }),
      ),
      legend(),
      ...(trail.hops.length === 0 || shape === "table"
        ? []
        : [element("span", { class: "faint" }, "click a box or a line for its operations")]),
    ),
    ...remarks(trail),
    ...(trail.hops.length === 0 ? [note("Nothing is known to have had these bytes.")] : drawn(trail, scene)),
  );
}

export const trail: View = { name: "trail", title: "Trail", key: "4", show };
