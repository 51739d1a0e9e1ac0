// Who talked to whom: as a matrix, as a graph, and each conversation with its bytes, round trips and waits.

import * as Plot from "@observablehq/plot";
import { askRows, type Cell, type QueryRows, type Selection } from "../client/client";
import { address, go, selection } from "../model/place";
import { colour, theme } from "../model/theme";
import { bytesText, durationText } from "../model/words";
import { figure } from "./charts";
import { choice, element, harmless, note, short, type Child } from "./elements";
import { showPanels } from "./panels";
import { framed } from "./readout";
import { eventsLink, filterLink, rowsTable } from "./rows";
import { svg } from "./svg";
import type { Scene, View } from "./view";

const PEERS_MAX = 30; // of a picture
const TALKS_MAX = 300;
const NAME_LETTERS = 26;
const LEVEL_LETTERS = 130; // of names that find room beside each other

// When something was sent again, on the page's clock.
const AT_NS = "epoch_ns(time) - (SELECT epoch_ns(time) - at_ns FROM selected LIMIT 1)";

// A row per process and peer. The other end of a TCP connection of this trace is a process, that of any other connection its address. A round trip is
// a receive that follows a send on the same socket, by the same process. What TCP sent again belongs to sockets, and so to each process that used them.
const talksSql = ({ from_ns, to_ns }: Selection): string => `
WITH moves AS (
  SELECT process_id, process, object_id, connection_id, host, target, at_ns, event_id, greatest(coalesce(bytes, 0), 0) AS bytes, verb, error, coalesce(duration_ns, 0) AS duration_ns,
         coalesce(duration_ns - on_cpu_ns, 0) AS wait_ns, lag(verb) OVER (PARTITION BY object_id, process_id ORDER BY at_ns, event_id) AS before
  FROM selected WHERE object_type = 'socket' AND parent_event_id IS NULL AND verb IS NOT NULL),
ends AS (SELECT connection_id, process_id, any_value(process) AS process FROM moves WHERE connection_id IS NOT NULL GROUP BY ALL),
peers AS (
  SELECT a.connection_id, a.process_id, string_agg(DISTINCT b.process, ', ' ORDER BY b.process) AS peer
  FROM ends a JOIN ends b ON a.connection_id = b.connection_id AND a.process_id <> b.process_id GROUP BY ALL),
again AS (
  SELECT object_id, sum(segments) AS segments, sum(bytes) AS bytes FROM retransmissions
  WHERE object_id IN (SELECT object_id FROM moves) AND ${AT_NS} BETWEEN ${from_ns ?? "-(1::BIGINT << 62)"} AND ${to_ns ?? "1::BIGINT << 62"} GROUP BY object_id),
used AS (
  SELECT DISTINCT m.process_id, coalesce(p.peer, m.target) AS peer, m.object_id
  FROM moves m LEFT JOIN peers p ON p.connection_id = m.connection_id AND p.process_id = m.process_id),
lossy AS (SELECT process_id, peer, sum(segments)::BIGINT AS segments, sum(bytes)::BIGINT AS bytes FROM used JOIN again USING (object_id) GROUP BY ALL)
SELECT m.process_id, any_value(m.process) AS process, coalesce(p.peer, m.target) AS peer, count(DISTINCT m.object_id) AS sockets,
       sum(m.bytes) FILTER (WHERE verb IN ('wrote', 'copied'))::BIGINT AS sent_bytes, sum(m.bytes) FILTER (WHERE verb = 'read')::BIGINT AS received_bytes, count(*) AS calls,
       count(*) FILTER (WHERE verb = 'read' AND before IN ('wrote', 'copied') AND m.bytes > 0) AS round_trips, sum(wait_ns) FILTER (WHERE verb = 'read')::BIGINT AS waited_ns,
       coalesce(any_value(l.segments), 0)::BIGINT AS retransmissions, coalesce(any_value(l.bytes), 0)::BIGINT AS sent_again_bytes, count(error) AS errors,
       coalesce((SELECT sum(segments) FROM again), 0)::BIGINT AS of_all
FROM moves m LEFT JOIN peers p ON p.connection_id = m.connection_id AND p.process_id = m.process_id
LEFT JOIN lossy l ON l.process_id = m.process_id AND l.peer = coalesce(p.peer, m.target)
GROUP BY m.process_id, coalesce(p.peer, m.target) ORDER BY coalesce(sent_bytes, 0) + coalesce(received_bytes, 0) DESC, calls DESC, process, peer LIMIT ${TALKS_MAX}`;

// On which hosts nobody looked for what TCP sends again: an older recorder, another tracer, a kernel that does not tell.
const BLIND =
  "SELECT host FROM hosts WHERE host NOT IN (SELECT host FROM coverage WHERE source = 'retransmissions' AND state IN ('on', 'partial')) ORDER BY host";

async function retransmissionWords(rows: QueryRows, scene: Scene): Promise<string> {
  const blind = (await askRows(BLIND, {}, scene.signal)).rows.map(([host]) => harmless(String(host)));
  const all = (await askRows("SELECT count(*) FROM hosts", {}, scene.signal)).rows[0]?.[0] ?? 0;
  if (blind.length > 0 && blind.length >= Number(all)) {
    return "retransmissions were not recorded";
  }
  const many = Number(rows.rows[0]?.[rows.columns.findIndex(({ name }) => name === "of_all")] ?? 0);
  const told = many === 0 ? "nothing was sent again" : `TCP sent ${many.toLocaleString("en")} segments again`;
  return blind.length === 0
    ? told
    : `${told}; of ${blind.slice(0, 3).join(", ")}${blind.length > 3 ? " and others" : ""} it is not known`;
}

interface Talk {
  process: string;
  peer: string;
  sent: number;
  received: number;
  trips: number;
}

function matrix(talks: Talk[]): HTMLElement {
  const rank = (name: (talk: Talk) => string): string[] => [...new Set(talks.map(name))].slice(0, PEERS_MAX);
  const rows = rank(({ process }) => process),
    columns = rank(({ peer }) => peer);
  const cells = talks
    .filter(({ process, peer }) => rows.includes(process) && columns.includes(peer))
    .map((talk) => ({ ...talk, bytes: Math.max(talk.sent + talk.received, 1) }));
  const amounts = cells.map(({ bytes }) => bytes),
    most = Math.max(...amounts),
    least = Math.min(...amounts) / 8; // what is least is still seen
  const isOnDark = theme() === "dark"; // the most is what differs most from the ground
  const isDark = (talk: { bytes: number }): boolean =>
    Math.log(talk.bytes / least) / Math.log(most / least) > 0.5 !== isOnDark;
  const isNarrow =
    columns.length * Math.max(...columns.map((name) => short(name, NAME_LETTERS).length)) > LEVEL_LETTERS;
  return figure(
    { name: "matrix", title: "bytes between processes (down) and their peers (across)" },
    {
      marginLeft: 190,
      marginTop: 10,
      marginBottom: isNarrow ? 150 : 30,
      height: (isNarrow ? 180 : 60) + rows.length * 24,
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
          title: (talk: Talk) =>
            `${talk.process} and ${talk.peer}: sent ${bytesText(talk.sent)}, received ${bytesText(talk.received)}, ${talk.trips.toLocaleString("en")} round trips`,
        }),
        ...(columns.length <= 14
          ? [
              Plot.text(cells, {
                x: "peer",
                y: "process",
                text: (talk: { bytes: number }) => bytesText(talk.bytes),
                fill: (talk: { bytes: number }) => (isDark(talk) ? "white" : "black"),
                fontSize: 10,
              }),
            ]
          : []),
      ],
    },
  );
}

const againSql = (row: Record<string, Cell>): string =>
  `SELECT ${AT_NS} AS at_ns, r.* FROM retransmissions r\nWHERE object_id IN (SELECT object_id FROM selected WHERE process_id = ${String(row["process_id"] ?? 0)} AND object_type = 'socket' AND verb IS NOT NULL)\nORDER BY at_ns LIMIT 1000`;

// Everybody on a circle, as thick a line as there were bytes.
function graph(talks: Talk[]): HTMLElement {
  const WIDTH = 960,
    HEIGHT = 560,
    RADIUS = 190;
  const names = [...new Set(talks.flatMap(({ process, peer }) => [process, peer]))].slice(0, PEERS_MAX).sort();
  const placeOf = (name: string): [number, number, number] => {
    const angle = (names.indexOf(name) / names.length) * 2 * Math.PI - Math.PI / 2;
    return [WIDTH / 2 + Math.cos(angle) * RADIUS * 1.3, HEIGHT / 2 + Math.sin(angle) * RADIUS, angle];
  };
  const drawn: SVGElement[] = [];
  const most = Math.max(...talks.map(({ sent, received }) => sent + received), 1);
  for (const { process, peer, sent, received } of talks.filter(
    (talk) => names.includes(talk.process) && names.includes(talk.peer),
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
        fill: colour(talks.some(({ process }) => process === name) ? "file" : "faint"),
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
        short(name, 34),
        svg("title", {}, name),
      ),
    );
  }
  const words = `${names.length} processes and addresses, ${talks.length} conversations`;
  const picture = svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "data-chart": "graph", "aria-label": words },
    ...drawn,
  );
  return framed("sockets", picture, "chart graph");
}

async function fillSockets(scene: Scene): Promise<Child[]> {
  const rows = await askRows(talksSql(selection()), selection(), scene.signal, TALKS_MAX);
  if (rows.rows.length === 0) {
    return [note("no byte went through a socket here: a wider filter or a longer time may have some")];
  }
  const text = (cell: Cell | undefined): string => harmless(String(cell ?? "?"));
  const talks = rows.rows.map((row) => ({
    process: text(row[1]),
    peer: text(row[2]),
    sent: Number(row[4] ?? 0),
    received: Number(row[5] ?? 0),
    trips: Number(row[7] ?? 0),
  }));
  const shape = scene.place.words.get("as") ?? "matrix";
  const retransmissions = await retransmissionWords(rows, scene);
  const peers = new Set(talks.flatMap(({ process, peer }) => [process, peer])).size;
  const condition = (row: Record<string, Cell>): string =>
    `process_id = ${String(row["process_id"] ?? 0)} AND object_type = 'socket'`;
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
        `${talks.length.toLocaleString("en")} conversations${peers > PEERS_MAX ? `; the picture has the ${PEERS_MAX} with most bytes` : ""}; ${retransmissions}`,
      ),
    ),
    shape === "graph" ? graph(talks) : matrix(talks),
    rowsTable(rows, {
      caption: "Conversations",
      hidden: ["process_id", "of_all"],
      link: {
        process: (row, words) => filterLink(words, `process_id = ${String(row["process_id"] ?? 0)}`, "overview"),
        calls: (row, words) => eventsLink(words, condition(row)),
        retransmissions: (row, words) =>
          Number(row["retransmissions"]) === 0
            ? words
            : element("a", { href: address("query", { sql: againSql(row) }) }, words),
      },
    }),
  ];
}

// How long receives waited, the longest first: what a service is slow for.
async function waits(scene: Scene): Promise<Child[]> {
  const sql =
    `SELECT at_ns, process, target, name, duration_ns, coalesce(duration_ns - on_cpu_ns, 0)::BIGINT AS waited_ns, bytes, event_id FROM selected WHERE object_type = 'socket' AND verb IS NOT NULL AND waited_ns > 0 ` +
    `ORDER BY waited_ns DESC, event_id LIMIT 12`;
  const rows = await askRows(sql, selection(), scene.signal);
  if (rows.rows.length === 0) {
    return [];
  }
  const at = (row: Record<string, Cell>): string => `event_id = ${String(row["event_id"])}`;
  return [
    rowsTable(rows, {
      caption: "Longest waits",
      hidden: ["event_id"],
      link: {
        at_ns: (row) => eventsLink(durationText(Number(row["at_ns"])), at(row)),
        process: (row, words) =>
          element("a", { href: address("query", { sql: `SELECT * FROM selected WHERE ${at(row)}` }) }, words),
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
