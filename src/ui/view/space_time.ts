// Lanes of processes or nodes, messages as lines between them, the same content in the same colour; what is clicked shows its trail alone.

import type { QueryColumn } from "../client/client";
import { askPairs, groupsOf, type Pair } from "../model/likeness";
import { address, go, note as noteWords, selection } from "../model/place";
import {
  askSpaceTime,
  type Asked,
  type Flow,
  type LaneKind,
  type Move,
  type SpaceTime,
  type TimeKind,
} from "../model/space_time";
import { colour, contentColour } from "../model/theme";
import { walk, type Walked } from "../model/walk";
import { bytesText, momentText } from "../model/words";
import {
  asking,
  choice,
  element,
  failure,
  harmless,
  lacking,
  note,
  section,
  short,
  table,
  type Child,
} from "./elements";
import { eventsAddress } from "./rows";
import { saveButtons } from "./save";
import { SpaceTimeCanvas } from "./space_time_canvas";
import type { Datum, Picture } from "./space_time_drawing";
import { trailAddress } from "./trail";
import type { Scene, View } from "./view";

const ROWS_MAX = 200; // of the table of messages
const LIKE_MIN = 10; // percent: less is not in the table `similarities`
const SETTLE_MS = 300; // a zoom is over
const HINT = "wheel: zoom · drag: move · shift and drag: a stretch of time · click: its trail · arrows: the next call";

const LANES: [LaneKind, string][] = [
  ["process", "processes"],
  ["node", "nodes"],
];
const TIMES: [TimeKind, string][] = [
  ["cluster", "cluster time"],
  ["raw", "own clocks"],
  ["order", "logical order"],
];

function wordOf<T extends string>(scene: Scene, name: string, among: [T, string][]): T {
  const [usual] = among[0] as [T, string];
  return among.find(([each]) => each === scene.place.words.get(name))?.[0] ?? usual;
}

function windowOf({ place }: Scene): [number, number] | null {
  const [begin, end] = ["begin", "end"].map((name) => Number(place.words.get(name) ?? NaN));
  return begin !== undefined && end !== undefined && end > begin ? [begin, end] : null;
}

const likeOf = ({ place }: Scene): number =>
  Math.min(Math.max(Number(place.words.get("like") ?? 100) || 100, LIKE_MIN), 100);

function askedOf(scene: Scene): Asked {
  const event = scene.place.words.get("event");
  return {
    lanes: wordOf(scene, "lane", LANES),
    time: wordOf(scene, "time", TIMES),
    isAll: scene.place.words.get("calls") === "all",
    begin_ns: scene.trace.begin_ns,
    window: windowOf(scene),
    event: event !== null && /^\d+$/.test(event) ? event : null,
  };
}

// The last answers: to pick a datum or to move the slider asks nothing anew.
let whole: { key: string; event: string | null; data: SpaceTime } | null = null;
let part: { key: string; data: SpaceTime } | null = null; // what the window leaves of what is too much
let lastPairs: { key: string; pairs: Pair[] } | null = null;

const has = (data: SpaceTime, event: string | null): boolean =>
  event === null || data.moves.some(({ id }) => id === event);

async function dataOf(asked: Asked, { trace, signal }: Scene): Promise<SpaceTime> {
  const key = JSON.stringify([asked.lanes, asked.time, asked.isAll, selection(), trace.path, trace.events]);
  if (whole?.key !== key || !(has(whole.data, asked.event) || whole.event === asked.event)) {
    whole = { key, event: asked.event, data: await askSpaceTime({ ...asked, window: null }, selection(), signal) };
  }
  if (!whole.data.isCut || asked.window === null) {
    return whole.data;
  }
  const { span } = whole.data,
    partKey = JSON.stringify([key, asked.window, asked.event]);
  if (part?.key !== partKey) {
    part = { key: partKey, data: { ...(await askSpaceTime(asked, selection(), signal)), span } };
  }
  return part.data;
}

async function pairsOf(scene: Scene): Promise<Pair[]> {
  const key = JSON.stringify([selection(), scene.trace.path, scene.trace.events]);
  if (lastPairs?.key !== key) {
    lastPairs = { key, pairs: await askPairs(selection(), scene.signal) };
  }
  return lastPairs.pairs;
}

function coloursOf(
  data: SpaceTime,
  pairs: Pair[],
  like: number,
): { of: (move: Move) => string; groups: Map<string, string> } {
  const sizes = new Map(
    data.moves.flatMap(({ fingerprint, bytes }) => (fingerprint === null ? [] : [[fingerprint, bytes] as const])),
  );
  const groups = groupsOf(sizes, pairs, like / 100);
  return {
    groups,
    of: ({ fingerprint }) =>
      fingerprint === null ? colour("faint") : contentColour(groups.get(fingerprint) ?? fingerprint),
  };
}

interface Chosen {
  index: number;
  flow: Flow | null;
  walked: Walked;
}

// `event`, and `message` if it is a line that was clicked: the call that took it.
function chosenIn(data: SpaceTime, { place }: Scene): Chosen | null {
  const index = data.moves.findIndex(({ id }) => id === place.words.get("event")),
    move = data.moves[index];
  if (move === undefined) {
    return null;
  }
  const to = place.words.get("message"),
    flow =
      to === null ? null : (data.lines.find((line) => line.from === index && data.moves[line.to]?.id === to) ?? null);
  const begin = flow?.from_position ?? 0,
    end = flow === null ? move.bytes : begin + flow.bytes;
  return { index, flow, walked: walk({ move: index, begin, end }, [...data.lines, ...data.inner]) };
}

function momentWords(scene: Scene, move: Move): string {
  return wordOf(scene, "time", TIMES) === "order" ? `order ${move.x.toLocaleString("en")}` : momentText(move.x, 1000);
}

const moveWords = (scene: Scene, move: Move): string =>
  `${momentWords(scene, move)} · ${move.process} ${move.name} ${short(move.target, 60)} · ${bytesText(move.bytes)}`;

function datumWords(scene: Scene, data: SpaceTime, { move, flow }: Datum): string {
  const from = data.moves[move],
    to = flow === null ? undefined : data.moves[flow.to];
  return from === undefined
    ? ""
    : harmless(
        flow === null || to === undefined
          ? moveWords(scene, from)
          : `${moveWords(scene, from)} → ${to.process} ${to.name} · ${bytesText(flow.bytes)} of it, ${flow.certainty} (${flow.rule})`,
      );
}

const pick = (data: SpaceTime, datum: Datum | null): void =>
  go({
    event: datum === null ? null : (data.moves[datum.move]?.id ?? null),
    message: datum?.flow == null ? null : (data.moves[datum.flow.to]?.id ?? null),
  });

// What was clicked, in words that can be copied, and where its trail is told in full.
function details(scene: Scene, data: SpaceTime, chosen: Chosen, groups: Map<string, string>): HTMLElement {
  const move = data.moves[chosen.index] as Move,
    { forward, back } = chosen.walked;
  const leader = move.fingerprint === null ? null : (groups.get(move.fingerprint) ?? move.fingerprint);
  const same =
    leader === null
      ? 0
      : data.moves.filter(
          ({ fingerprint }) => fingerprint !== null && (groups.get(fingerprint) ?? fingerprint) === leader,
        ).length;
  const content =
    move.fingerprint === null
      ? "content not recorded"
      : `${same.toLocaleString("en")} ${same === 1 ? "call" : "calls"} here with ${likeOf(scene) < 100 ? "such" : "this"} content`;
  const from = `event:${move.id}`;
  return section(
    "Chosen",
    element(
      "p",
      { class: "summary", id: "chosen" },
      datumWords(scene, data, { move: chosen.index, flow: chosen.flow }),
    ),
    element(
      "p",
      { class: "faint" },
      `its bytes: ${(forward.size - 1).toLocaleString("en")} calls later, ${(back.size - 1).toLocaleString("en")} before, of those shown · ${content}${move.dyes > 0 ? ` · ${move.dyes} ${move.dyes === 1 ? "dye" : "dyes"} met` : ""}`,
    ),
    element(
      "p",
      { class: "row" },
      element("a", { href: trailAddress(from) }, "trail: where it went"),
      element("a", { href: trailAddress(from, "back") }, "trail: where it came from"),
      element("a", { href: eventsAddress(`event_id = ${move.id}`) }, "this event"),
      ...(move.fingerprint === null
        ? []
        : [element("a", { href: eventsAddress(`fingerprint = ${move.fingerprint}`) }, "all with this content")]),
      element(
        "a",
        { href: address("space-time", { ...Object.fromEntries(scene.place.words), event: null, message: null }) },
        "all trails (Escape)",
      ),
    ),
  );
}

const COLUMNS: QueryColumn[] = [
  ["when", "text"],
  ["from", "text"],
  ["to", "text"],
  ["over", "text"],
  ["bytes", "number"],
  ["known by", "text"],
  ["certainty", "text"],
].map(([name, kind]) => ({ name, kind }) as QueryColumn);

function messages(scene: Scene, data: SpaceTime, chosen: Chosen | null): HTMLElement {
  const lines = data.lines
    .filter((flow) => chosen === null || chosen.walked.flows.has(flow))
    .sort((a, b) => a.from - b.from || a.to - b.to);
  const lane = (index: number): string => data.lanes[data.moves[index]?.lane ?? 0]?.name ?? "";
  const rows = lines.slice(0, ROWS_MAX).map((flow) => {
    const move = data.moves[flow.from] as Move;
    return Object.assign(
      [momentWords(scene, move), lane(flow.from), lane(flow.to), move.target, flow.bytes, flow.rule, flow.certainty],
      { flow },
    );
  });
  const title = `Messages${chosen === null ? "" : " of this trail"}: ${lines.length.toLocaleString("en")}${lines.length > ROWS_MAX ? `, the first ${ROWS_MAX}` : ""}`;
  return section(
    title,
    table(COLUMNS, rows, "Messages", {
      when: (value, row) => {
        const { flow } = row as unknown as { flow: Flow };
        return element(
          "a",
          { href: trailAddress(`event:${data.moves[flow.from]?.id ?? ""}`), title: "its trail" },
          String(value),
        );
      },
      over: (value) => short(harmless(String(value)), 50),
    }),
  );
}

// What is not shown, and what to do.
function remarks(scene: Scene, data: SpaceTime): Child[] {
  const count = (value: number): string => value.toLocaleString("en");
  const cut = [
    ...(data.lanesInAll > data.lanes.length
      ? [`the ${count(data.lanes.length)} busiest of ${count(data.lanesInAll)} lanes`]
      : []),
    ...(data.movesInAll > data.moves.length ? [`${count(data.moves.length)} of ${count(data.movesInAll)} calls`] : []),
    ...(data.linesInAll > data.lines.length
      ? [`${count(data.lines.length)} of ${count(data.linesInAll)} messages`]
      : []),
  ];
  const hasContent = data.moves.some(({ fingerprint }) => fingerprint !== null);
  return [
    ...(cut.length === 0
      ? []
      : [
          element(
            "p",
            { class: "faint", id: "cut" },
            `Shown are ${cut.join(", ")}: zoom in, choose a stretch of time (shift and drag), or filter, to see all of what is left.`,
          ),
        ]),
    ...(data.lines.length === 0
      ? [note(`No bytes are known to have gone from one ${wordOf(scene, "lane", LANES)} to another one here.`)]
      : []),
    ...(hasContent
      ? []
      : [
          lacking(
            "Nobody saw what the bytes were, so all messages have one colour. For the colours record with",
            "dyetrace record --content=anchors …",
          ),
        ]),
  ];
}

interface Controls {
  root: HTMLElement;
  slider: HTMLInputElement;
  said: HTMLElement; // beside the slider
}

function controls(scene: Scene): Controls {
  const like = likeOf(scene),
    isDown = scene.place.words.get("along") === "down";
  const said = element("span", { class: "faint" }),
    slider = element("input", {
      type: "range",
      id: "like",
      min: String(LIKE_MIN),
      max: "100",
      value: String(like),
      "aria-label": "Similarity, percent, from which contents have one colour",
    });
  const reset = { begin: null, end: null };
  const root = element(
    "div",
    { class: "row" },
    choice("Lanes", LANES, wordOf(scene, "lane", LANES), (lane) => go({ lane: lane === "process" ? null : lane })),
    choice("Time", TIMES, wordOf(scene, "time", TIMES), (time) =>
      go({ time: time === "cluster" ? null : time, ...reset }),
    ),
    choice(
      "Direction of time",
      [
        ["across", "time →"],
        ["down", "time ↓"],
      ],
      isDown ? "down" : "across",
      (along) => go({ along: along === "across" ? null : along }),
    ),
    choice(
      "Calls",
      [
        ["messages", "followed calls"],
        ["all", "all"],
      ],
      scene.place.words.get("calls") === "all" ? "all" : "messages",
      (calls) => go({ calls: calls === "all" ? calls : null }),
    ),
    element("label", { class: "like" }, "one colour: ", slider, " ", said),
  );
  return { root, slider, said };
}

const likeWords = (like: number, groups: Map<string, string>): string =>
  `${like === 100 ? "the same content" : `${like} % alike`} · ${new Set(groups.values()).size.toLocaleString("en")} of ${groups.size.toLocaleString("en")} contents`;

class Shown {
  private pairs: Pair[] = [];
  private hovered: Datum | null = null;
  private drawn: Picture | null = null;
  private settling: ReturnType<typeof setTimeout> | undefined;
  private readonly stage: SpaceTimeCanvas;
  private readonly above = element("div");
  private readonly readout = element("p", { class: "faint readout", "aria-live": "off" });
  private readonly beside = element("div", { class: "beside" }); // stays in sight however long the picture is
  private readonly below = element("div");

  constructor(
    private readonly scene: Scene,
    private data: SpaceTime,
    private readonly parts: Controls,
  ) {
    const isDown = scene.place.words.get("along") === "down",
      [begin, end] = data.span,
      edge = (end - begin) * 0.02 + 1;
    this.stage = new SpaceTimeCanvas(
      windowOf(scene) ?? [begin - edge, end + edge],
      isDown,
      () => scene.main.clientHeight - 150,
      {
        moved: (window) => this.onMoved(window),
        selected: (from, to) => this.select(from, to),
        hovered: (datum) => this.hover(datum),
        picked: (datum) => pick(this.data, datum),
      },
      scene.signal,
    );
    this.parts.slider.addEventListener("input", () => void this.liken());
    this.parts.slider.addEventListener("change", () =>
      noteWords({ like: this.like === 100 ? null : String(this.like) }),
    );
  }

  elements(): Child[] {
    return [
      this.above,
      this.readout,
      element(
        "figure",
        {},
        this.stage.root,
        element(
          "figcaption",
          {},
          saveButtons("space-time", () => this.stage.svgText()),
        ),
      ),
      this.beside,
      this.below,
    ];
  }

  private get like(): number {
    return Number(this.parts.slider.value);
  }

  async liken(): Promise<void> {
    try {
      if (this.like < 100 && this.pairs.length === 0) {
        this.parts.said.textContent = "comparing contents…";
        this.pairs = await pairsOf(this.scene);
      }
      this.draw();
    } catch (error) {
      if (!this.scene.signal.aborted) {
        this.parts.said.replaceChildren(failure(error));
      }
    }
  }

  private draw(): void {
    const { scene, data } = this,
      chosen = chosenIn(data, scene),
      { of, groups } = coloursOf(data, this.pairs, this.like);
    this.hovered = null;
    this.readout.textContent = HINT;
    this.drawn = {
      data,
      time: wordOf(scene, "time", TIMES),
      colourOf: of,
      walked: chosen?.walked ?? null,
      chosen: chosen?.index ?? null,
      hovered: null,
    };
    this.stage.show(this.drawn);
    this.parts.said.textContent = likeWords(this.like, groups);
    this.beside.replaceChildren(...(chosen === null ? [] : [details(scene, data, chosen, groups)]));
    this.above.replaceChildren(...remarks(scene, data));
    this.below.replaceChildren(messages(scene, data, chosen));
  }

  private hover(datum: Datum | null): void {
    if (this.drawn !== null && (datum?.move !== this.hovered?.move || datum?.flow !== this.hovered?.flow)) {
      this.hovered = datum;
      this.readout.textContent = datum === null ? HINT : datumWords(this.scene, this.data, datum);
      this.stage.show({ ...this.drawn, hovered: datum });
    }
  }

  private onMoved([begin, end]: [number, number]): void {
    clearTimeout(this.settling);
    this.settling = setTimeout(() => {
      if (!this.scene.signal.aborted) {
        noteWords({ begin: String(Math.floor(begin)), end: String(Math.ceil(end)) });
        void this.reload([Math.floor(begin), Math.ceil(end)]);
      }
    }, SETTLE_MS);
  }

  // Of what was too much to be shown a part may not be.
  private async reload(window: [number, number]): Promise<void> {
    const data = await dataOf({ ...askedOf(this.scene), window }, this.scene).catch(() => this.data);
    if (data !== this.data && !this.scene.signal.aborted) {
      this.data = data;
      this.draw();
    }
  }

  private select(from: number, to: number): void {
    const times = this.data.moves.filter(({ x }) => x >= from && x <= to).map(({ at_ns }) => at_ns);
    const [begin, end] = times.length > 0 ? [Math.min(...times), Math.max(...times)] : [from, to];
    if (times.length > 0 || wordOf(this.scene, "time", TIMES) === "cluster") {
      go({ from: String(Math.floor(begin)), to: String(Math.ceil(end)), begin: null, end: null });
    }
  }
}

async function show(scene: Scene): Promise<void> {
  const parts = controls(scene),
    body = asking("following bytes between lanes… (of a large trace that takes a while the first time)");
  const wasFocused = document.activeElement instanceof HTMLCanvasElement;
  if (!scene.isAgain) {
    scene.main.replaceChildren(parts.root, body);
  }
  let data: SpaceTime;
  try {
    data = await dataOf(askedOf(scene), scene);
  } catch (error) {
    if (!scene.signal.aborted) {
      scene.main.replaceChildren(parts.root, failure(error));
    }
    return;
  }
  if (scene.signal.aborted) {
    return;
  }
  if (data.moves.length === 0) {
    scene.main.replaceChildren(
      parts.root,
      scene.place.words.get("calls") === "all"
        ? lacking(
            "No call here moved bytes. To see messages record what sends them:",
            "dyetrace record --content=anchors …",
          )
        : note("No bytes are known to have gone on from any call here. “all” shows all calls that moved some."),
    );
    return;
  }
  const shown = new Shown(scene, data, parts);
  scene.main.replaceChildren(parts.root, ...shown.elements());
  if (wasFocused) {
    scene.main.querySelector("canvas")?.focus();
  }
  await shown.liken();
}

export const spaceTime: View = { name: "space-time", title: "Space-time", key: "3", show };
