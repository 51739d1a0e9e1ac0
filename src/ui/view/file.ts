// One file: where it was read and written over time, the contents that were read (CaT's coloured boxes), how long it took, and who did it.

import type { Parameter, RowsName } from "../generated/api";
import * as Plot from "@observablehq/plot";
import { askRecords, askRows, recordsOf } from "../client/client";
import { address, go, note as noteInAddress, place, selection } from "../model/place";
import { colour, contentColour } from "../model/theme";
import { bytesText, durationText, momentText, niceStep } from "../model/words";
import { brushed, figure, panelWidth, timeAxis } from "./charts";
import { choice, element, failure, harmless, lacking, note, short, type Child } from "./elements";
import { legend } from "./overview";
import { showPanels, type Panel } from "./panels";
import { framed } from "./readout";
import { askedTable, eventsLink, filterLink, isText, rowsTable, usesOf, whoOf } from "./rows";
import { svg } from "./svg";
import type { Scene, View } from "./view";

const SEARCH_MS = 200; // nobody types any more
const POINTS_MAX = 3000; // of a picture; more are counted in boxes
const BOXES_ACROSS = 160;
const BOXES_HIGH = 60;
const PIECES_MAX = 2000;
const EPOCHS_MAX = 12;

// Rows about one object.
const asked = (name: RowsName, object: string, scene: Scene, more: Record<string, Parameter> = {}, rows_max = 1000) =>
  askRecords({ name, parameters: { object, ...more }, selection: selection(), signal: scene.signal, rows_max });

interface Move {
  at: number;
  access: string;
  first: number;
  bytes: number;
  thread: string;
}

const accessColour = (access: string): string => colour(access === "read" ? "file" : "network");

function patternMarks(moves: Move[], byThread: boolean): Plot.Markish[] {
  return [
    Plot.axisX(timeAxis()),
    Plot.link(moves, {
      x: "at",
      y1: "first",
      y2: (move: Move) => move.first + move.bytes,
      stroke: byThread ? "thread" : (move: Move) => accessColour(move.access),
      strokeWidth: 2.5,
      strokeLinecap: "square", // what is short is seen
      title: (move: Move) =>
        `${move.thread} ${move.access} ${move.bytes.toLocaleString("en")} bytes at ${move.first.toLocaleString("en")}, ${momentText(move.at, 1000)}`,
    }),
  ];
}

interface Box {
  from: number;
  to: number;
  low: number;
  high: number;
  bytes: number;
  calls: number;
}

// Too many to draw each: how many bytes were moved in each box of time and place.
async function patternBoxes(scene: Scene, object: string, access: string, step: number): Promise<Plot.Markish[]> {
  const rows = (await asked("file_boxes", object, scene, { access, step, boxes: BOXES_HIGH }, 20_000)).map(
    ({ at_ns, first_byte, height, bytes, calls }): Box => {
      const [from, low] = [Number(at_ns), Number(first_byte)];
      return { from, to: from + step, low, high: low + Number(height), bytes: Number(bytes), calls: Number(calls) };
    },
  );
  return [
    Plot.axisX(timeAxis()),
    Plot.rect(rows, {
      x1: "from",
      x2: "to",
      y1: "low",
      y2: "high",
      fill: accessColour(access),
      fillOpacity: ({ calls }: Box) => Math.min(1, 0.25 + Math.log10(calls) / 4),
      title: ({ calls, bytes }: Box) => `${calls.toLocaleString("en")} calls, ${bytesText(bytes)}`,
    }),
  ];
}

async function pattern(scene: Scene, object: string): Promise<Child[]> {
  const counts = await asked("file_accesses", object, scene);
  if (counts.length === 0) {
    return [note("nobody read or wrote it here; what else was done to it is below")];
  }
  const from = Math.min(...counts.map(({ first_ns }) => Number(first_ns))),
    to = Math.max(...counts.map(({ last_ns }) => Number(last_ns)), from + 1000);
  const by = scene.place.parameters.get("by") ?? "access",
    step = niceStep(to - from, BOXES_ACROSS);
  const parts: Child[] = [
    element(
      "div",
      { class: "row" },
      choice(
        "Colour",
        [
          ["access", "by access"],
          ["thread", "by thread"],
        ],
        by,
        (name) => go({ by: name }),
      ),
      ...(by === "access"
        ? [
            legend([
              ["read", accessColour("read")],
              ["written", accessColour("write")],
            ]),
          ]
        : []),
    ),
  ];
  for (const { access, calls } of counts) {
    const name = String(access);
    const few = Number(calls) <= POINTS_MAX;
    let marks: Plot.Markish[];
    if (few) {
      const rows = await asked("file_moves", object, scene, { access: name }, POINTS_MAX);
      const moves = rows.map(({ at_ns, first_byte, bytes, thread }) => ({
        at: Number(at_ns),
        access: name,
        first: Number(first_byte),
        bytes: Number(bytes),
        thread: harmless(String(thread)),
      }));
      marks = patternMarks(moves, by === "thread");
    } else {
      marks = await patternBoxes(scene, object, name, step);
    }
    const title = name === "read" ? "where it was read, over time" : "where it was written, over time";
    const chart = figure(
      { name: `${name}s`, title },
      {
        x: { domain: [from, to] },
        y: { label: `${name === "read" ? "read" : "written"} at`, tickFormat: bytesText, grid: true, zero: true },
        ...(by === "thread" && few ? { color: { legend: false, scheme: "Observable10" as const } } : {}),
        marks,
      },
    );
    parts.push(
      note(
        `${Number(calls).toLocaleString("en")} calls ${few ? "" : "as boxes, the stronger the more calls; choose a shorter time to see each"}`,
      ),
      brushed(chart),
    );
  }
  return parts;
}

// A, B, …, Z, AA: contents in the order in which they are first met.
export function letters(index: number): string {
  return index < 26 ? String.fromCharCode(65 + index) : letters(Math.floor(index / 26) - 1) + letters(index % 26);
}

interface Piece {
  epoch: number;
  first: number;
  bytes: number;
  content: string | null;
  process: string;
}

function strip(pieces: Piece[]): SVGSVGElement {
  const WIDTH = 22,
    HEIGHT = 22,
    LEFT = 70;
  const rows = Math.max(...pieces.map(({ epoch }) => epoch));
  const known = new Map<string, string>(),
    across = new Map<number, number>();
  const drawn: SVGElement[] = [];
  for (let epoch = 1; epoch <= rows; ++epoch) {
    drawn.push(svg("text", { x: 0, y: epoch * HEIGHT - 6, fill: colour("faint"), "font-size": 11 }, `epoch ${epoch}`));
  }
  for (const { epoch, first, bytes, content, process } of pieces) {
    const column = across.get(epoch) ?? 0,
      x = LEFT + column * WIDTH,
      y = (epoch - 1) * HEIGHT + 2;
    const letter = content === null ? "?" : (known.get(content) ?? letters(known.size));
    if (content !== null) {
      known.set(content, letter);
    }
    across.set(epoch, column + 1);
    const title = `${letter}: ${process} read ${bytes.toLocaleString("en")} bytes at ${first.toLocaleString("en")}${content === null ? "" : `, content ${content}`}`;
    drawn.push(
      svg(
        "rect",
        {
          x,
          y,
          width: WIDTH - 2,
          height: HEIGHT - 4,
          rx: 2,
          fill: content === null ? colour("line") : contentColour(content),
        },
        svg("title", {}, title),
      ),
      svg(
        "text",
        {
          x: x + WIDTH / 2 - 1,
          y: y + 13,
          "text-anchor": "middle",
          "font-size": letter.length > 2 ? 7 : 10,
          fill: colour("ground"),
          "pointer-events": "none",
        },
        letter,
      ),
    );
  }
  const width = LEFT + Math.max(...across.values()) * WIDTH,
    height = rows * HEIGHT;
  const words = `${pieces.length} pieces in ${rows} epochs, ${known.size} different contents`;
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": words }, ...drawn);
}

// The n-th reading of a place is of epoch n: epochs that read in the same order stand one below the other, box for box.
async function contents(scene: Scene, object: string): Promise<Child[]> {
  const answer = await askRows({
    name: "file_contents",
    parameters: { object, epochs: EPOCHS_MAX },
    selection: selection(),
    signal: scene.signal,
    rows_max: PIECES_MAX,
  });
  const pieces = recordsOf(answer).map(({ epoch, first_byte, bytes, fingerprint = null, process }) => ({
    epoch: Number(epoch),
    first: Number(first_byte),
    bytes: Number(bytes),
    content: fingerprint === null ? null : String(fingerprint),
    process: harmless(String(process)),
  }));
  if (pieces.length === 0) {
    return [];
  }
  if (pieces.every(({ content }) => content === null)) {
    return [
      lacking(
        "Contents were not looked at: equal ones cannot be told from others.",
        "dyetrace record --content=hash …",
      ),
    ];
  }
  const picture = strip(pieces);
  return [
    note(
      `each box is a read, in order; equal letters are equal contents; below each other what was read again${answer.is_cut ? `; the first ${PIECES_MAX.toLocaleString("en")} reads` : ""}`,
    ),
    framed("contents", picture, "scroll"),
  ];
}

const VERBS = ["read", "wrote", "synced"];
const VERB_COLOURS = ["file", "network", "process"];

async function latency(scene: Scene, object: string): Promise<Child[]> {
  const rows = (await asked("file_latencies", object, scene)).map(({ verb, band, calls }) => ({
    verb: String(verb),
    band: Number(band),
    calls: Number(calls),
  }));
  if (rows.length === 0) {
    return [];
  }
  return [
    legend(
      VERBS.map((verb, index) => [verb, colour(VERB_COLOURS[index] ?? "")] as [string, string]).filter(([verb]) =>
        rows.some((row) => row.verb === verb),
      ),
    ),
    figure(
      { name: "file-latency", title: "how long its calls took" },
      {
        x: { label: "duration", tickFormat: (band: number) => durationText(2 ** band), ticks: 8 },
        y: { label: "calls", grid: true },
        color: { domain: VERBS, range: VERB_COLOURS.map(colour) },
        width: panelWidth(),
        marks: [
          Plot.rectY(rows, {
            x1: "band",
            x2: (row: { band: number }) => row.band + 1,
            y: "calls",
            fill: "verb",
            title: (row: { verb: string; band: number; calls: number }) =>
              `${row.calls.toLocaleString("en")} × ${row.verb}, ${durationText(2 ** row.band)} to ${durationText(2 ** (row.band + 1))}`,
          }),
        ],
      },
    ),
  ];
}

function who(scene: Scene, object: string): Panel {
  const title = "Who";
  return {
    title,
    fill: () =>
      askedTable({
        name: "file_users",
        parameters: { object },
        signal: scene.signal,
        caption: title,
        hidden: ["process_id", "who"],
        link: {
          process: (row, words) => filterLink(words, whoOf(row), "overview"),
          calls: (row, words) => eventsLink(words, `${usesOf(object)} AND ${whoOf(row)}`),
        },
      }),
  };
}

function calls(scene: Scene, object: string): Panel {
  const title = "What was done to it";
  return {
    title,
    fill: () =>
      askedTable({
        name: "file_calls",
        parameters: { object },
        signal: scene.signal,
        caption: title,
        link: {
          calls: (row, words) =>
            eventsLink(
              words,
              `${usesOf(object)} AND ${isText("name", row["name"])} AND ${isText("error", row["error"] || null)}`,
            ),
        },
      }),
  };
}

async function showFile(scene: Scene, object: string): Promise<void> {
  const parameters = { object };
  const [row = {}] = await askRecords({ name: "file", parameters, selection: {}, signal: scene.signal });
  const { path = null, object_type: type = null, host = null, names = null } = row;
  const name = harmless(String(path ?? `object ${object}`));
  const other = Number(names) > 1 ? `, ${String(names)} names` : "";
  await showPanels(scene, [
    {
      title: "File",
      isWide: true,
      fill: () =>
        Promise.resolve([
          element(
            "p",
            { class: "path" },
            element("strong", { title: name }, short(name, 200)),
            ` · ${String(type ?? "?")}${scene.trace.hosts.length > 1 ? ` on ${harmless(String(host))}` : ""}${other}`,
          ),
          element(
            "p",
            {},
            element("a", { href: address("file") }, "other files"),
            " · ",
            element(
              "a",
              { href: address("trail", { start: String(path ?? ""), direction: "forward" }) },
              "where its bytes went",
            ),
            " · ",
            element(
              "a",
              { href: address("trail", { start: String(path ?? ""), direction: "back" }) },
              "where they came from",
            ),
          ),
        ]),
    },
    { title: "Access pattern", isWide: true, fill: () => pattern(scene, object) },
    { title: "Contents", isWide: true, fill: () => contents(scene, object) },
    { title: "Latency", fill: () => latency(scene, object) },
    who(scene, object),
    calls(scene, object),
  ]);
}

// Does what is asked for last when nothing was asked for a while.
function whenStill(signal: AbortSignal, does: () => void): () => void {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      if (!signal.aborted) {
        does();
      }
    }, SEARCH_MS);
  };
}

// Waits while a pointer is down in `list`, and until the click that follows is over: what is pressed must still be there to be clicked.
function whenReleased(list: HTMLElement, signal: AbortSignal): () => Promise<void> {
  let released = Promise.resolve();
  list.addEventListener("pointerdown", () => {
    released = new Promise((done) => {
      for (const end of ["pointerup", "pointercancel"]) {
        window.addEventListener(end, () => window.setTimeout(done), { signal, once: true });
      }
    });
  });
  return () => released;
}

// What is typed is looked for as it is typed: what stands in the field is what the list holds.
function showFiles(scene: Scene): Promise<void> {
  const like = (): string => place().parameters.get("like") ?? "";
  const search = element("input", {
    type: "search",
    "aria-label": "Files whose path contains",
    placeholder: "path contains …",
    value: like(),
  });
  const list = element("div", {});
  const said = element("span", { class: "faint", role: "status" });
  const isReleased = whenReleased(list, scene.signal);
  const find = async (): Promise<void> => {
    const asked = like();
    const rows = await askRows({
      name: "files",
      parameters: { like: asked },
      selection: selection(),
      signal: scene.signal,
    });
    const table = rowsTable(rows, {
      caption: "Files",
      hidden: ["object_id", "all_files", ...(scene.trace.hosts.length > 1 ? [] : ["host"])],
      link: {
        file: (row, words) =>
          element("a", { href: address("file", { object: String(row["object_id"]) }), title: words }, short(words, 90)),
      },
    });
    const count = (value: number): string => value.toLocaleString("en"),
      all = Number(recordsOf(rows)[0]?.["all_files"] ?? 0);
    await isReleased();
    if (asked === like()) {
      list.replaceChildren(all === 0 ? note("no file here: a wider filter or a longer time has some") : table);
      said.textContent =
        all === 0
          ? ""
          : `${all > rows.rows.length ? `the ${count(rows.rows.length)} with most bytes of ${count(all)}` : `${count(all)}, those with most bytes first`}; choose one`;
    }
  };
  const findAgain = async (): Promise<void> => {
    scene.main.setAttribute("aria-busy", "true");
    noteInAddress({ like: search.value });
    const asked = like();
    await find().catch((error: unknown) => list.replaceChildren(failure(error)));
    if (!scene.signal.aborted && asked === like()) {
      scene.main.removeAttribute("aria-busy");
    }
  };
  const whenTyped = whenStill(scene.signal, () => void findAgain());
  search.addEventListener("input", whenTyped);
  const fill = async (): Promise<Child[]> => {
    await find();
    return [element("div", { class: "row" }, search, said), list];
  };
  return showPanels(scene, [{ title: "Files", isWide: true, fill }]);
}

export const fileView: View = {
  name: "file",
  title: "File",
  key: "5",
  show: (scene) => {
    const object = scene.place.parameters.get("object");
    return object !== null && /^\d+$/.test(object) ? showFile(scene, object) : showFiles(scene);
  },
};
