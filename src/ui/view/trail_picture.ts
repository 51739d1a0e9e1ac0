// A trail's graph as SVG: processes as boxes, files as sheets, channels as pills; an edge is solid, dashed or dotted as it is certain, likely or possible.

import type { Certainty } from "../generated/api";
import type { Graph, GraphEdge, GraphNode } from "../model/trail_graph";
import { colour } from "../model/theme";
import { bytesText } from "../model/words";
import { harmless } from "./elements";
import { svg } from "./svg";

const WIDTH = 132,
  HEIGHT = 42,
  GAP_X = 54,
  GAP_Y = 22,
  MARGIN = 12; // pixels, before the picture is scaled
const SCALE_MIN = 0.72,
  SCALE_MAX = 1.35;
const LETTERS = 16; // of a name in a box

export const DASHES: Record<Certainty, string> = { certain: "", likely: "7 4", possible: "2 4" };
const COLOURS: Record<GraphNode["kind"], string> = { process: "process", file: "file", channel: "network" };

export interface Picked {
  name: string; // in the address
  node?: GraphNode;
  edge?: GraphEdge;
}

interface Point {
  x: number;
  y: number;
}

const cornerOf = (node: GraphNode): Point => ({
  x: MARGIN + node.layer * (WIDTH + GAP_X),
  y: MARGIN + 14 + node.row * (HEIGHT + GAP_Y),
});

// The end of a path says more than its begin; of a connection both ends are there.
export function labelLines(node: GraphNode): string[] {
  const text = harmless(node.label),
    arrow = text.indexOf("→");
  if (arrow >= 0) {
    return [text.slice(0, arrow), "→ " + text.slice(arrow + 1)].map((line) => endOf(line));
  }
  const colon = text.indexOf(":");
  if (node.kind === "process" && colon > 0) {
    return [endOf(text.slice(colon + 1)), endOf(text.slice(0, colon))]; // of another host
  }
  const slash = text.lastIndexOf("/");
  return slash > 0 && node.kind === "file"
    ? [endOf(text.slice(slash + 1)), endOf(text.slice(0, slash + 1))]
    : [endOf(text)];
}

const endOf = (text: string): string => (text.length <= LETTERS ? text : "…" + text.slice(text.length - LETTERS + 1));

function box(node: GraphNode): SVGElement {
  const { x, y } = cornerOf(node),
    radius = node.kind === "process" ? 4 : node.kind === "channel" ? HEIGHT / 2 : 0;
  const shape = svg("rect", {
    x,
    y,
    width: WIDTH,
    height: HEIGHT,
    rx: radius,
    fill: colour("panel"),
    stroke: colour(node.lost === null ? COLOURS[node.kind] : "bad"),
    "stroke-width": node.isStart ? 3 : 1.5,
  });
  const lines = labelLines(node);
  const text = lines.map((line, index) =>
    svg(
      "text",
      {
        x: x + WIDTH / 2,
        y: y + HEIGHT / 2 + (lines.length === 1 ? 4 : index * 15 - 3),
        "text-anchor": "middle",
        "font-size": lines.length === 1 || index === 0 ? 13 : 11.5,
        fill: colour(index === 0 || node.kind === "channel" ? "text" : "faint"),
      },
      line,
    ),
  );
  const said = [node.isStart ? "start" : "", node.lost === null ? "" : "sight lost"]
    .filter((word) => word !== "")
    .join(", ");
  const flag =
    said === ""
      ? []
      : [svg("text", { x, y: y - 4, "font-size": 11.5, fill: colour(node.lost === null ? "mark" : "bad") }, said)];
  return svg("g", {}, shape, ...text, ...flag);
}

interface Path {
  line: string;
  said: Point; // where its words stand
  anchor: "start" | "middle" | "end";
}

// A line goes from the right side of one to the left side of the other; what leads back goes round below. Words stand at the end where it is alone.
function path(from: GraphNode, to: GraphNode, isAlone: { from: boolean; to: boolean }): Path {
  const a = cornerOf(from),
    b = cornerOf(to);
  const [x1, y1, x2, y2] = [a.x + WIDTH, a.y + HEIGHT / 2, b.x, b.y + HEIGHT / 2];
  if (x2 > x1) {
    const bend = Math.max((x2 - x1) / 2, 20);
    const line = `M${x1},${y1}C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2 - 6},${y2}`;
    return isAlone.to
      ? { line, said: { x: x2 - 9, y: y2 - 5 }, anchor: "end" }
      : isAlone.from
        ? { line, said: { x: x1 + 4, y: y1 - 5 }, anchor: "start" }
        : { line, said: { x: (x1 + x2) / 2, y: (y1 + y2) / 2 - 5 }, anchor: "middle" };
  }
  const low = Math.max(a.y, b.y) + HEIGHT + 16,
    [mx1, mx2] = [a.x + WIDTH / 2, b.x + WIDTH / 2];
  return {
    line: `M${mx1},${a.y + HEIGHT}C${mx1},${low} ${mx2},${low} ${mx2},${b.y + HEIGHT + 6}`,
    said: { x: (mx1 + mx2) / 2, y: low - 4 },
    anchor: "middle",
  };
}

export const edgeWords = (edge: GraphEdge): string =>
  `${bytesText(edge.bytes)} in ${edge.calls.toLocaleString("en")} ${edge.calls === 1 ? "call" : "calls"}, ${edge.certainty}`;

function arrow(edge: GraphEdge, from: GraphNode, to: GraphNode, isAlone: { from: boolean; to: boolean }): SVGElement[] {
  const { line, said, anchor } = path(from, to, isAlone);
  const thick = Math.min(1 + Math.log10(Math.max(edge.bytes, 1)) / 2.5, 4);
  return [
    svg("path", { d: line, fill: "none", stroke: "transparent", "stroke-width": 14 }), // to be hit more easily
    svg("path", {
      d: line,
      fill: "none",
      stroke: colour("text"),
      "stroke-opacity": 0.75,
      "stroke-width": thick.toFixed(1),
      "stroke-dasharray": DASHES[edge.certainty],
      "marker-end": "url(#trail-tip)",
    }),
    svg(
      "text",
      {
        x: said.x,
        y: said.y,
        "text-anchor": anchor,
        "font-size": 11.5,
        fill: colour("text"),
        stroke: colour("ground"),
        "stroke-width": 3,
        "paint-order": "stroke",
      },
      bytesText(edge.bytes),
    ),
  ];
}

function pickable(
  picked: Picked,
  words: string,
  isPicked: boolean,
  pick: (picked: Picked) => void,
  parts: SVGElement[],
): SVGElement {
  const group = svg(
    "g",
    {
      class: "pickable",
      tabindex: 0,
      role: "button",
      "aria-label": harmless(words),
      "aria-pressed": String(isPicked),
      "data-pick": picked.name,
    },
    svg("title", {}, words),
    ...parts,
  );
  group.addEventListener("click", () => pick(picked));
  group.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      pick(picked);
    }
  });
  return group;
}

export const nameOfEdge = (edge: GraphEdge): string =>
  `hop ${Math.min(...edge.hops.map(({ hop }) => hop))} ${edge.from.startsWith("process") ? "out" : "in"}`;

// `room` is how wide it may be without scrolling; `chosen` the name of what is picked.
export function trailPicture(
  graph: Graph,
  title: string,
  room: number,
  chosen: string,
  pick: (picked: Picked) => void,
): SVGSVGElement {
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const corners = graph.nodes.map(cornerOf);
  const width = Math.max(...corners.map(({ x }) => x)) + WIDTH + MARGIN,
    height = Math.max(...corners.map(({ y }) => y)) + HEIGHT + MARGIN + 20;
  const scale = Math.min(Math.max(room / width, SCALE_MIN), SCALE_MAX);
  const tip = svg(
    "marker",
    {
      id: "trail-tip",
      viewBox: "0 0 8 8",
      refX: 2,
      refY: 4,
      markerWidth: 8,
      markerHeight: 8,
      markerUnits: "userSpaceOnUse",
      orient: "auto",
    },
    svg("path", { d: "M0,0L8,4L0,8z", fill: colour("text") }),
  );
  const count = (side: "from" | "to", id: string): number => graph.edges.filter((edge) => edge[side] === id).length;
  const edges = graph.edges.flatMap((edge) => {
    const [from, to] = [nodes.get(edge.from), nodes.get(edge.to)];
    const name = nameOfEdge(edge);
    return from === undefined || to === undefined
      ? []
      : [
          pickable(
            { name, edge },
            `${from.label} to ${to.label}: ${edgeWords(edge)}`,
            name === chosen,
            pick,
            arrow(edge, from, to, { from: count("from", edge.from) === 1, to: count("to", edge.to) === 1 }),
          ),
        ];
  });
  const boxes = graph.nodes.map((node) =>
    pickable({ name: node.id, node }, `${node.kind} ${node.label}`, node.id === chosen, pick, [box(node)]),
  );
  return svg(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      width: Math.round(width * scale),
      height: Math.round(height * scale),
      role: "group",
      "aria-label": harmless(title),
      "data-chart": "trail",
      "font-family": "system-ui, sans-serif",
    },
    svg("defs", {}, tip),
    ...edges,
    ...boxes,
  );
}
