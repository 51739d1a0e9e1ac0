// Who talked to whom: as a matrix, as a graph, and each conversation with its bytes, round trips and waits.

import type { Cell, Parameter } from "../generated/api";
import * as Plot from "@observablehq/plot";
import { askRecords, askRows, recordsOf, type Row } from "../client/client";
import { example } from "../model/examples";
import { address, go, selection } from "../model/place";
import { colour, theme } from "../model/theme";
import { bytesText, momentText } from "../model/words";
import { figure, viewWidth } from "./charts";
import { choice, element, harmless, note, short, type Child } from "./elements";
import { showPanels } from "./panels";
import { framed } from "./readout";
import { eventsLink, filterLink, isText, rowsTable, socketCallsAddress, whoOf } from "./rows";
import { svg } from "./svg";
import type { Scene, View } from "./view";

const PEERS_MAX = 30; // of a picture
const CONVERSATIONS_MAX = 300;
const NAME_LETTERS = 26;
const LEVEL_LETTERS = 130; // of names that find room beside each other
const GRAPH_LETTERS = 28;
const MATRIX_LEFT = 190; // pixels
const AMOUNT_WIDTH = 58; // of "999 kB" and what is around it

async function retransmissionWords(parameters: Record<string, Parameter>, scene: Scene): Promise<string> {
  const wanted = { name: "retransmissions_known", parameters } as const;
  const hosts = await askRecords({ ...wanted, selection: selection(), signal: scene.signal });
  const blind = hosts.filter(({ is_known }) => is_known !== true).map(({ host }) => harmless(String(host)));
  if (blind.length > 0 && blind.length >= hosts.length) {
    return "retransmissions were not recorded";
  }
  const many = Number(hosts[0]?.["segments"] ?? 0);
  const told = many === 0 ? "nothing was sent again" : `TCP sent ${many.toLocaleString("en")} segments again`;
  return blind.length === 0
    ? told
    : `${told}; of ${blind.slice(0, 3).join(", ")}${blind.length > 3 ? " and others" : ""} it is not known`;
}

interface Conversation {
  process: string;
  peer: string;
  sent: number;
  received: number;
  trips: number;
}

function matrix(conversations: Conversation[]): HTMLElement {
  const rank = (name: (one: Conversation) => string): string[] =>
    [...new Set(conversations.map(name))].slice(0, PEERS_MAX);
  const rows = rank(({ process }) => process),
    columns = rank(({ peer }) => peer);
  const cells = conversations
    .filter(({ process, peer }) => rows.includes(process) && columns.includes(peer))
    .map((one) => ({ ...one, bytes: Math.max(one.sent + one.received, 1) }));
  const amounts = cells.map(({ bytes }) => bytes),
    most = Math.max(...amounts),
    least = Math.min(...amounts) / 8; // what is least is still seen
  const isOnDark = theme() === "dark"; // the most is what differs most from the ground
  const isDark = (one: { bytes: number }): boolean =>
    Math.log(one.bytes / least) / Math.log(most / least) > 0.5 !== isOnDark;
  const isNarrow =
    columns.length * Math.max(...columns.map((name) => short(name, NAME_LETTERS).length)) > LEVEL_LETTERS;
  const hasAmounts = (viewWidth() - MATRIX_LEFT) / columns.length > AMOUNT_WIDTH;
  return figure(
    { name: "matrix", title: "bytes between processes (down) and their peers (across)" },
    {
      marginLeft: MATRIX_LEFT,
      marginTop: 10,
      marginBottom: isNarrow ? 170 : 30,
      height: (isNarrow ? 200 : 60) + rows.length * 24,
      x: {
        domain: columns,
        label: null,
        tickRotate: isNarrow ? -50 : 0,
        tickFormat: (name: string) => short(name, NAME_LETTERS),
      },
      y: { domain: rows, label: null, tickFormat: (name: string) => short(name, NAME_LETTERS) },
      color: { type: "log", scheme: "blues", reverse: isOnDark, label: "bytes", domain: [least, most] },
      marks: [
        Plot.cell(cells, {
          x: "peer",
          y: "process",
          fill: "bytes",
          inset: 1,
          title: (one: Conversation) =>
            `${one.process} and ${one.peer}: sent ${bytesText(one.sent)}, received ${bytesText(one.received)}, ${one.trips.toLocaleString("en")} round trips`,
        }),
        ...(hasAmounts
          ? [
              Plot.text(cells, {
                x: "peer",
                y: "process",
                text: (one: { bytes: number }) => bytesText(one.bytes),
                fill: (one: { bytes: number }) => (isDark(one) ? "white" : "black"),
                fontSize: 10,
              }),
            ]
          : []),
      ],
    },
  );
}

// The condition on socket_calls() that leaves the calls of a row.
const conditionOf = (row: Row): string =>
  `${row["process_id"] == null ? "process_id IS NULL" : `process_id = ${String(row["process_id"])}`} AND ${isText("peer", row["peer"])}`;

function retransmissionsOf(row: Row): string {
  const { from_ns, to_ns } = selection();
  const bounds = [
    ...(from_ns === undefined ? [] : [`at_ns >= ${from_ns}`]),
    ...(to_ns === undefined ? [] : [`at_ns <= ${to_ns}`]),
  ];
  return example("retransmissions", {
    condition: conditionOf(row),
    stretch: bounds.length === 0 ? "true" : bounds.join(" AND "),
  });
}

// Everybody on a circle, as thick a line as there were bytes.
function graph(conversations: Conversation[]): HTMLElement {
  const WIDTH = 960,
    HEIGHT = 560,
    RADIUS = 190;
  const names = [...new Set(conversations.flatMap(({ process, peer }) => [process, peer]))].slice(0, PEERS_MAX).sort();
  const placeOf = (name: string): [number, number, number] => {
    const angle = (names.indexOf(name) / names.length) * 2 * Math.PI - Math.PI / 2;
    return [WIDTH / 2 + Math.cos(angle) * RADIUS * 1.3, HEIGHT / 2 + Math.sin(angle) * RADIUS, angle];
  };
  const drawn: SVGElement[] = [];
  const most = Math.max(...conversations.map(({ sent, received }) => sent + received), 1);
  for (const { process, peer, sent, received } of conversations.filter(
    (one) => names.includes(one.process) && names.includes(one.peer),
  )) {
    const [x1, y1] = placeOf(process),
      [x2, y2] = placeOf(peer);
    const path = `M${x1} ${y1} Q${WIDTH / 2} ${HEIGHT / 2} ${x2} ${y2}`;
    const width = 1 + 9 * (Math.log10(1 + sent + received) / Math.log10(1 + most));
    const title = `${process} sent ${bytesText(sent)} to ${peer}, received ${bytesText(received)}`;
    drawn.push(
      svg(
        "path",
        { d: path, fill: "none", stroke: colour("network"), "stroke-opacity": 0.55, "stroke-width": width },
        svg("title", {}, title),
      ),
    );
  }
  for (const name of names) {
    const [x, y, angle] = placeOf(name);
    const isRight = Math.cos(angle) >= -0.01;
    drawn.push(
      svg("circle", {
        cx: x,
        cy: y,
        r: 5,
        fill: colour(conversations.some(({ process }) => process === name) ? "file" : "faint"),
      }),
      svg(
        "text",
        {
          x: x + (isRight ? 10 : -10),
          y: y + 4,
          "text-anchor": isRight ? "start" : "end",
          "font-size": 12,
          fill: colour("text"),
        },
        short(name, GRAPH_LETTERS),
        svg("title", {}, name),
      ),
    );
  }
  const words = `${names.length} processes and addresses, ${conversations.length} conversations`;
  const picture = svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "data-chart": "graph", "aria-label": words },
    ...drawn,
  );
  return framed("sockets", picture, "chart graph");
}

async function fillSockets(scene: Scene): Promise<Child[]> {
  const { from_ns = null, to_ns = null } = selection(),
    stretch = { from_ns, to_ns };
  const wanted = {
    name: "conversations",
    parameters: { ...stretch, most: CONVERSATIONS_MAX },
    rows_max: CONVERSATIONS_MAX,
  } as const;
  const rows = await askRows({ ...wanted, selection: selection(), signal: scene.signal });
  if (rows.rows.length === 0) {
    return [note("no byte went through a socket here: a wider filter or a longer time may have some")];
  }
  const text = (cell: Cell | undefined): string => harmless(String(cell ?? "?"));
  const conversations = recordsOf(rows).map(({ process, peer, sent_bytes, received_bytes, round_trips }) => ({
    process: text(process),
    peer: text(peer),
    sent: Number(sent_bytes ?? 0),
    received: Number(received_bytes ?? 0),
    trips: Number(round_trips ?? 0),
  }));
  const shape = scene.place.parameters.get("as") ?? "matrix";
  const retransmissions = await retransmissionWords(stretch, scene);
  const peers = new Set(conversations.flatMap(({ process, peer }) => [process, peer])).size;
  const all = Number(recordsOf(rows)[0]?.["all_conversations"] ?? 0),
    count = (value: number): string => value.toLocaleString("en");
  const many =
    all > conversations.length
      ? `the ${count(conversations.length)} with most bytes of ${count(all)} conversations`
      : `${count(all)} ${all === 1 ? "conversation" : "conversations"}`;
  return [
    element(
      "div",
      { class: "row" },
      choice(
        "Shape",
        [
          ["matrix", "matrix"],
          ["graph", "graph"],
        ],
        shape,
        (as) => go({ as }),
      ),
      element(
        "span",
        { class: "faint" },
        `${many}${peers > PEERS_MAX ? `; the picture has the ${PEERS_MAX} with most bytes` : ""}; ${retransmissions}`,
      ),
    ),
    shape === "graph" ? graph(conversations) : matrix(conversations),
    rowsTable(rows, {
      caption: "Conversations",
      hidden: ["process_id", "who", "all_conversations"],
      link: {
        process: (row, words) => filterLink(words, whoOf(row), "overview"),
        calls: (row, words) => element("a", { href: socketCallsAddress("socket_calls()", conditionOf(row)) }, words),
        retransmissions: (row, words) =>
          Number(row["retransmissions"]) === 0
            ? words
            : element("a", { href: address("query", { sql: retransmissionsOf(row) }) }, words),
      },
    }),
  ];
}

// How long receives waited, the longest first: what a service is slow for.
async function waits(scene: Scene): Promise<Child[]> {
  const rows = await askRows({ name: "socket_waits", selection: selection(), signal: scene.signal });
  if (rows.rows.length === 0) {
    return [];
  }
  const at = (row: Row): string => `event_id = ${String(row["event_id"])}`;
  return [
    rowsTable(rows, {
      caption: "Longest waits",
      hidden: ["event_id"],
      link: {
        at_ns: (row) => eventsLink(momentText(Number(row["at_ns"])), at(row)),
        process: (row, words) =>
          element("a", { href: address("query", { sql: example("event", { condition: at(row) }) }) }, words),
      },
    }),
  ];
}

export const sockets: View = {
  name: "sockets",
  title: "Sockets",
  key: "6",
  show: (scene) =>
    showPanels(scene, [
      { title: "Who talked to whom", isWide: true, fill: () => fillSockets(scene) },
      { title: "Longest waits", isWide: true, fill: () => waits(scene) },
    ]),
};
