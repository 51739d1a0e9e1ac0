// A trail as a graph of processes, files and channels (connections, pipes), left to right by time: each hop is an edge into a process or out
// of it.
//
//   /srv/source ──300 kB──► cat[812] ╌╌300 kB╌╌► pipe:[77] ──300 kB──► tee[813] ╌╌► …
//
// A channel is one node for each way that bytes go through it. Where a process has more than kLeavesMax files that lead nowhere else, they are one node.

import type { Certainty, Hop, Link, Trail } from "../generated/api";

const LEAVES_MAX = 6;
const CHANNEL_RULES = ["tcp", "unix", "udp", "pipe"];
const CERTAINTIES: Certainty[] = ["possible", "likely", "certain"];

export type NodeKind = "process" | "file" | "channel";

export interface GraphNode {
  id: string;
  kind: NodeKind;
  label: string;
  paths: string[]; // one; of files that are shown as one, all
  isStart: boolean;
  lost: string | null; // why the trail ends here, though the process went on
  layer: number;
  row: number;
}

export interface GraphEdge {
  from: string;
  to: string;
  hops: Hop[];
  bytes: number;
  calls: number;
  certainty: Certainty; // how sure the step is that leads here
}

export interface Graph {
  nodes: GraphNode[];
  edges: GraphEdge[];
}

// How sure it is that the trail came to each hop: by the best of the links that lead there. What was asked about is certain.
export function certaintyOfHops({ hops, links, direction }: Trail): Certainty[] {
  const best = hops.map(() => -1);
  for (const link of links) {
    const far = direction === "forward" ? link.to_hop : link.from_hop;
    best[far] = Math.max(best[far] ?? -1, CERTAINTIES.indexOf(link.certainty));
  }
  return best.map((value) => CERTAINTIES[value] ?? "certain");
}

class Groups {
  private readonly leaders = new Map<string, string>();

  of(name: string): string {
    const leader = this.leaders.get(name);
    return leader === undefined || leader === name ? name : this.of(leader);
  }
  join(a: string, b: string): void {
    const [first, second] = [this.of(a), this.of(b)];
    if (first !== second) {
      this.leaders.set(second, first);
    }
  }
}

const isNamedChannel = (path: string | null): boolean => path !== null && (path.includes("→") || path.includes(":["));

// Where a hop took bytes from and where it put them, as names of nodes.
function endsOfHops({ hops, links }: Trail): { taken: string | null; put: string | null }[] {
  const carries = (link: Link): boolean => link.rules.some((rule) => CHANNEL_RULES.includes(rule));
  const sent = new Set(links.filter(carries).map((link) => link.from_hop));
  const received = new Set(links.filter(carries).map((link) => link.to_hop));
  const groups = new Groups();
  const taken = (hop: Hop): string | null =>
    hop.object_id === null
      ? null
      : received.has(hop.hop) || isNamedChannel(hop.path)
        ? `taken ${hop.object_id}`
        : `file ${hop.object_id}`;
  const put = (hop: Hop): string | null =>
    hop.object2_id === null
      ? null
      : sent.has(hop.hop) || isNamedChannel(hop.object_id === null ? hop.path : hop.path2)
        ? `put ${hop.object2_id}`
        : `file ${hop.object2_id}`;
  for (const link of links.filter(carries)) {
    const [from, to] = [hops[link.from_hop], hops[link.to_hop]];
    const [near, far] = [from === undefined ? null : put(from), to === undefined ? null : taken(to)];
    if (near !== null && far !== null) {
      groups.join(near, far);
    }
  }
  const node = (name: string | null): string | null => (name === null ? null : groups.of(name));
  return hops.map((hop) => ({ taken: node(taken(hop)), put: node(put(hop)) }));
}

class Builder {
  readonly nodes = new Map<string, GraphNode>();
  readonly edges = new Map<string, GraphEdge>();

  node(id: string, kind: NodeKind, label: string): GraphNode {
    const made = this.nodes.get(id) ?? {
      id,
      kind,
      label,
      paths: [label],
      isStart: false,
      lost: null,
      layer: -1,
      row: 0,
    };
    this.nodes.set(id, made);
    return made;
  }
  edge(from: string, to: string, hop: Hop, certainty: Certainty): void {
    const key = `${from}|${to}`;
    const made = this.edges.get(key) ?? { from, to, hops: [], bytes: 0, calls: 0, certainty };
    made.hops.push(hop);
    made.bytes += hop.bytes;
    made.calls += hop.calls;
    made.certainty = CERTAINTIES.indexOf(certainty) < CERTAINTIES.indexOf(made.certainty) ? certainty : made.certainty;
    this.edges.set(key, made);
  }
}

const kindOf = (id: string): NodeKind => (id.startsWith("file ") ? "file" : "channel");

function build(trail: Trail): Builder {
  const builder = new Builder(),
    ends = endsOfHops(trail),
    certainties = certaintyOfHops(trail);
  for (const hop of trail.hops) {
    const { taken = null, put = null } = ends[hop.hop] ?? {},
      certainty = certainties[hop.hop] ?? "certain";
    const process = builder.node(`process ${hop.process_id}`, "process", hop.process);
    process.lost = hop.lost_sight ? (hop.lost_sight_because ?? "its output has none of it") : process.lost;
    if (taken !== null) {
      const from = builder.node(taken, kindOf(taken), hop.path ?? hop.what);
      from.isStart ||= hop.is_start && trail.direction === "forward";
      builder.edge(taken, process.id, hop, certainty);
    }
    if (put !== null) {
      const to = builder.node(put, kindOf(put), (taken === null ? hop.path : hop.path2) ?? hop.what);
      to.isStart ||= hop.is_start && (trail.direction === "back" || taken === null);
      builder.edge(process.id, put, hop, certainty);
    }
  }
  return builder;
}

// Files that one process alone has, on one side, are one node if they are many.
function gatherLeaves({ nodes, edges }: Builder): void {
  const degree = new Map<string, number>();
  for (const { from, to } of edges.values()) {
    degree.set(from, (degree.get(from) ?? 0) + 1);
    degree.set(to, (degree.get(to) ?? 0) + 1);
  }
  const leaves = new Map<string, [string, GraphEdge][]>();
  for (const [key, edge] of edges) {
    const [leaf, process] = nodes.get(edge.from)?.kind === "process" ? [edge.to, edge.from] : [edge.from, edge.to];
    if (degree.get(leaf) === 1 && nodes.get(leaf)?.kind === "file") {
      const side = `${process}|${leaf === edge.to ? "put" : "taken"}`;
      leaves.set(side, [...(leaves.get(side) ?? []), [key, edge]]);
    }
  }
  for (const [side, all] of leaves) {
    if (all.length > LEAVES_MAX) {
      gather({ nodes, edges }, side, all.sort(([, a], [, b]) => b.bytes - a.bytes).slice(LEAVES_MAX - 1));
    }
  }
}

function gather({ nodes, edges }: Pick<Builder, "nodes" | "edges">, side: string, rest: [string, GraphEdge][]): void {
  const id = `files ${side}`,
    paths: string[] = [];
  let sum: GraphEdge | undefined;
  for (const [key, edge] of rest) {
    const leaf = nodes.get(edge.from)?.kind === "process" ? edge.to : edge.from;
    paths.push(nodes.get(leaf)?.label ?? "");
    nodes.delete(leaf);
    edges.delete(key);
    sum ??= {
      from: leaf === edge.from ? id : edge.from,
      to: leaf === edge.to ? id : edge.to,
      hops: [],
      bytes: 0,
      calls: 0,
      certainty: edge.certainty,
    };
    sum.hops.push(...edge.hops);
    sum.bytes += edge.bytes;
    sum.calls += edge.calls;
    sum.certainty =
      CERTAINTIES[Math.min(CERTAINTIES.indexOf(sum.certainty), CERTAINTIES.indexOf(edge.certainty))] ?? "possible";
  }
  if (sum !== undefined) {
    nodes.set(id, {
      id,
      kind: "file",
      label: `${paths.length.toLocaleString("en")} more files`,
      paths,
      isStart: false,
      lost: null,
      layer: -1,
      row: 0,
    });
    edges.set(id, sum);
  }
}

const firstHop = (edge: GraphEdge): number => Math.min(...edge.hops.map(({ hop }) => hop));

// A node lies right of the one from which it was first reached; what leads back to an earlier one is drawn back.
function layOut({ nodes, edges }: Builder): Graph {
  const ordered = [...edges.values()].sort((a, b) => firstHop(a) - firstHop(b));
  for (const edge of ordered) {
    const [from, to] = [nodes.get(edge.from), nodes.get(edge.to)];
    if (from === undefined || to === undefined) {
      continue;
    }
    if (from.layer < 0) {
      from.layer = to.layer > 0 ? to.layer - 1 : 0;
    }
    if (to.layer < 0) {
      to.layer = from.layer + 1;
    }
  }
  const layers: GraphNode[][] = [];
  for (const node of nodes.values()) {
    (layers[Math.max(node.layer, 0)] ??= []).push(node);
  }
  for (const layer of layers) {
    layer?.forEach((node, row) => (node.row = row));
  }
  straighten(layers, ordered, nodes);
  return { nodes: [...nodes.values()], edges: ordered };
}

// Each node as near as it can be to the middle of those that lead to it, so that few edges cross.
function straighten(layers: GraphNode[][], edges: GraphEdge[], nodes: Map<string, GraphNode>): void {
  for (const layer of layers) {
    const middle = (node: GraphNode): number => {
      const rows = edges
        .filter(({ to }) => to === node.id)
        .map(({ from }) => nodes.get(from))
        .filter((near) => near !== undefined && near.layer < node.layer)
        .map((near) => near?.row ?? 0);
      return rows.length === 0 ? node.row : rows.reduce((sum, row) => sum + row, 0) / rows.length;
    };
    const middles = new Map((layer ?? []).map((node) => [node.id, middle(node)]));
    let least = 0;
    for (const node of [...(layer ?? [])].sort((a, b) => (middles.get(a.id) ?? 0) - (middles.get(b.id) ?? 0))) {
      node.row = Math.max(least, middles.get(node.id) ?? 0);
      least = node.row + 1;
    }
  }
}

export function trailGraph(trail: Trail): Graph {
  const builder = build(trail);
  gatherLeaves(builder);
  return layOut(builder);
}
