// Timelines of two traces on one axis of time, each from its begin: to zoom or move is to do it in both.
//
//   input ──▶ span ──▶ a source for each ──▶ two pictures ──▶ drawPair()

import type { TimelineRows } from "../generated/api";
import { askTimelineRows, type Picture } from "../client/timeline";
import { HALF, PairLanes, type Two } from "../model/lane_pairs";
import { foldedIn, foldedText } from "../model/lanes";
import { go, note as noteInAddress, place, selection } from "../model/place";
import {
  around,
  clamped,
  spanInAddress,
  spanText,
  ViewInAddress,
  whole,
  zoomed,
  type TimeSpan,
} from "../model/time_span";
import { durationText } from "../model/words";
import { drawPair, SIDE_NAMES } from "./compare_drawing";
import { choice, element, failure, harmless, note, type Child } from "./elements";
import { pairsTable } from "./compare_table";
import { barOf, colouringIn } from "./timeline_bar";
import { Chosen } from "./timeline_chosen";
import { ExactAsker } from "./timeline_exact";
import { AXIS, LABELS, timeAt, type Drawing } from "./timeline_drawing";
import { listenToInput, type InputReceiver, type Seen } from "./timeline_input";
import { runAfter, runLike, runUnder, wideRuns, type Run } from "./timeline_runs";
import { Screen } from "./timeline_screen";
import { PictureSource } from "./timeline_source";
import { askTargets, gapWords, runWords } from "./timeline_words";
import type { Scene } from "./view";

const SETTLED_MS = 250; // nobody moves any more
const BESIDE = 3 * 2 * HALF; // pixels of lanes that are asked for above and below those in view

const isDifferentFirst = (): boolean => place().parameters.get("order") !== "time";

class PairStage implements InputReceiver {
  readonly root = element("div", { class: "timeline pair" });
  private readonly words = element("p", { class: "faint", id: "pair-words", "aria-live": "polite" });
  private readonly bar = element("div", { class: "row" });
  private readonly tables = element("div", {});
  private readonly asking = new AbortController();
  private readonly chosen = new Chosen((span) => this.look(span), this.asking.signal);
  private readonly exact = new ExactAsker(this.asking.signal);
  private readonly screen: Screen;
  private readonly sources: Two<PictureSource>;
  private readonly sides: Two<Drawing>;
  private readonly room = { width: 800, height: 300, top: 0 };
  private readonly whole_ns: number;
  private readonly address = new ViewInAddress();
  private lanes: PairLanes;
  private span: TimeSpan;
  private brushed: TimeSpan | null = null;
  private cursor = { lane: 0, side: 0 }; // of the keyboard
  private run: Run | null = null; // that was chosen, of the cursor's side
  private settled = 0; // a timer; 0: nobody moves any more

  constructor(
    readonly all: Two<TimelineRows>,
    readonly where: string,
    private readonly order: boolean,
  ) {
    this.whole_ns = Math.max(all[0].span_ns, all[1].span_ns);
    const { parameters } = place();
    this.lanes = new PairLanes(all, order, foldedIn(parameters));
    this.span = spanInAddress(this.whole_ns);
    const sideOf = (side: "this" | "other", index: 0 | 1): Drawing => ({
      ...this.room,
      side,
      lanes: this.lanes.halves[index],
      span: this.span,
      picture: null,
      colouring: colouringIn(parameters),
      selection: {},
      brush: null,
      row: -1,
      run: null,
      targets: new Map(),
      exact: new Map(),
      flows: [],
    });
    this.sides = [sideOf("this", 0), sideOf("other", 1)];
    this.sources = [0, 1].map(
      (side) =>
        new PictureSource(
          { take: (picture) => this.take(side, picture), fail: (error) => this.words.replaceChildren(failure(error)) },
          this.sides[side]?.side,
        ),
    ) as Two<PictureSource>;
    const label = "timelines of two traces: w and s zoom, a and d move both, arrows go from call to call, Enter opens";
    this.screen = new Screen({ "aria-label": label, "aria-describedby": "pair-words" }, this.room, {
      draw: (renderer) => {
        this.tellSides();
        drawPair(renderer, this.sides, this.lanes);
      },
      isComplete: () => this.sources.every((source, side) => source.isWhole(this.sides[side]?.picture ?? null)),
      changed: () => this.want(),
    });
    const rest = element("details", {}, element("summary", {}, "What is in both, as a table"), this.tables);
    this.root.replaceChildren(this.bar, this.screen.root, this.screen.tip.root, this.words, this.chosen.root, rest);
    listenToInput(this.screen.canvas, this);
    rest.addEventListener("toggle", () => this.tables.replaceChildren(pairsTable(this.lanes)));
  }

  isOf(all: Two<TimelineRows>, where: string): boolean {
    return (
      where === this.where &&
      this.order === isDifferentFirst() &&
      all.every(({ revision }, side) => revision === this.all[side]?.revision)
    );
  }

  // What the address says now.
  update(): void {
    this.span = this.address.taken(this.whole_ns) ?? this.span;
    this.sides.forEach((side) => (side.colouring = colouringIn(place().parameters)));
    this.bar.replaceChildren(
      choice(
        "Order",
        [
          ["different", "differences first"],
          ["time", "as they began"],
        ],
        this.order ? "different" : "time",
        (order) => go({ order: order === "time" ? order : null, view: spanText(this.span) }),
      ),
      ...barOf({
        name: "timelines",
        colouring: colouringIn(place().parameters),
        hasFlows: false,
        exports: null,
        flows: null,
        colour: (name) => go({ colour: name === "class" ? null : name, view: spanText(this.span) }),
        zoom: (factor) => this.look(zoomed(this.span, factor, (this.span.from + this.span.to) / 2, this.whole_ns)),
        all: () => this.look(whole(this.whole_ns)),
        foldAll: (isOpen) => {
          this.lanes.foldAll(isOpen);
          this.turned();
        },
        svg: () => this.screen.svg(),
      }),
    );
    this.folded();
  }

  leaveView(): void {
    this.sources.forEach((source) => source.stop());
    this.asking.abort();
    clearTimeout(this.settled);
  }

  // --- what input does

  seen(): Seen {
    return { span: this.span, width: this.room.width, whole_ns: this.whole_ns };
  }

  look(span: TimeSpan): void {
    this.span = span;
    this.screen.tip.hide();
    this.want();
  }

  scroll(by: number): void {
    this.screen.scroll(by);
  }

  brush(span: TimeSpan | null): void {
    this.brushed = span;
    this.screen.redraw();
  }

  select(span: TimeSpan): void {
    go({ from: String(Math.round(span.from)), to: String(Math.round(span.to)), view: spanText(this.span) });
  }

  hover(x: number, y: number): void {
    const { tip, canvas } = this.screen;
    if (!tip.isPinned) {
      tip.show(canvas, x, y, this.wordsAt(x, y));
      this.askExact(x, y, () => this.hover(x, y));
      canvas.style.cursor = x < LABELS || this.runAt(x, y) === null ? "default" : "pointer";
    }
  }

  leave(): void {
    if (!this.screen.tip.isPinned) {
      this.exact.stop();
      this.screen.tip.hide();
    }
  }

  choose(x: number, y: number): void {
    const { tip, canvas } = this.screen,
      at = this.placeAt(y);
    canvas.focus({ preventScroll: true });
    tip.hide();
    if (at === null) {
      return;
    }
    this.cursor = { lane: this.lanes.lanes.findIndex(({ pair }) => pair === at.pair), side: at.side };
    if (x < LABELS) {
      this.lanes.fold(at.pair);
      this.turned();
      return;
    }
    this.run = this.runAt(x, y);
    if (this.run !== null) {
      tip.show(canvas, x, y, this.wordsAt(x, y));
      tip.pin();
      this.askExact(x, y, () => tip.isPinned && tip.show(canvas, x, y, this.wordsAt(x, y)));
      this.open();
    }
    this.screen.redraw();
  }

  enter(x: number, y: number): void {
    const run = this.runAt(x, y);
    if (run !== null) {
      this.look(around(run.begin, run.end, this.whole_ns));
    }
  }

  // Steps from half to half, and from call to call.
  step(rows: number, runs: number): void {
    if (rows !== 0) {
      const half = Math.min(
        Math.max(2 * this.cursor.lane + this.cursor.side + rows, 0),
        2 * this.lanes.lanes.length - 1,
      );
      this.cursor = { lane: half >> 1, side: half & 1 };
      this.run = null;
      this.screen.scrollTo({ top: half * HALF, height: HALF });
      this.screen.redraw();
      return;
    }
    const side = this.sides[this.cursor.side],
      row = this.rowOfCursor();
    const run = side?.picture == null || row === null ? null : runAfter(side.picture, row, this.run, runs, this.span);
    if (run !== null && side !== undefined) {
      this.run = run;
      const say = (): void =>
        void (this.words.textContent = this.said(this.cursor.side, runWords(side, run)).replaceAll("\n", ", "));
      say();
      this.exact.ask(side, run, say);
      const length = this.span.to - this.span.from;
      if (run.end < this.span.from || run.begin > this.span.to) {
        this.look(clamped({ from: run.begin - length / 2, to: run.begin + length / 2 }, this.whole_ns));
      }
      this.screen.redraw();
    }
  }

  open(): void {
    const side = this.sides[this.cursor.side],
      lane = this.lanes.lanes[this.cursor.lane];
    if (this.run !== null && side !== undefined) {
      void this.chosen.show(side, this.run);
    } else if (lane !== undefined) {
      this.lanes.fold(lane.pair);
      this.turned();
    }
  }

  // --- what lies where

  private placeAt(y: number): ReturnType<PairLanes["at"]> {
    return y < AXIS ? null : this.lanes.at(y - AXIS + this.room.top);
  }

  private runAt(x: number, y: number): Run | null {
    const at = this.placeAt(y),
      side = this.sides[at?.side ?? 0];
    return at === null || at.row === null || side === undefined ? null : runUnder(side, at.row, x);
  }

  private wordsAt(x: number, y: number): string {
    const at = this.placeAt(y),
      run = this.runAt(x, y),
      side = this.sides[at?.side ?? 0];
    if (at === null || at.row === null || side === undefined || x < LABELS) {
      return "";
    }
    const slack = timeAt(side, x + 2) - timeAt(side, x);
    const words = [run === null ? "" : runWords(side, run), gapWords(side, at.row, timeAt(side, x), slack)]
      .filter((text) => text !== "")
      .join("\n");
    return words === "" ? "" : this.said(at.side, words);
  }

  private askExact(x: number, y: number, then: () => void): void {
    const side = this.sides[this.placeAt(y)?.side ?? 0];
    if (side !== undefined) {
      this.exact.ask(side, this.runAt(x, y), then);
    }
  }

  private said(side: number, words: string): string {
    return `${SIDE_NAMES[side] ?? ""} · ${words}`;
  }

  private rowOfCursor(): number | null {
    return this.lanes.pairs[this.lanes.lanes[this.cursor.lane]?.pair ?? -1]?.rows[this.cursor.side] ?? null;
  }

  // --- asking and drawing

  // What both have in common.
  private tellSides(): void {
    const { from_ns, to_ns } = selection(),
      { room, span, brushed, cursor, run } = this;
    this.sides.forEach((side, index) => {
      const isHere = cursor.side === index;
      Object.assign(side, {
        ...room,
        span,
        brush: brushed,
        lanes: this.lanes.halves[index],
        row: isHere ? (this.rowOfCursor() ?? -1) : -1,
        run: isHere ? run : null,
      });
      side.selection = {
        ...(from_ns === undefined ? {} : { from: from_ns }),
        ...(to_ns === undefined ? {} : { to: to_ns }),
      };
    });
  }

  private turned(): void {
    noteInAddress({ fold: foldedText(this.lanes.folded) });
    this.folded();
  }

  private folded(): void {
    this.screen.root.style.maxHeight = `${this.lanes.height + AXIS + 4}px`;
    this.screen.fit(this.lanes.height);
    if (this.tables.childElementCount > 0) {
      this.tables.replaceChildren(pairsTable(this.lanes));
    }
  }

  private rowsIn(side: number, beside: number): number[] {
    const half = this.lanes.halves[side as 0 | 1],
      { top, height } = this.room;
    return half.lanes.slice(...half.between(top - beside, top + height - AXIS + beside)).map(({ row }) => row);
  }

  private want(): void {
    this.tellSides();
    this.sources.forEach((source, index) => {
      const { picture, colouring, width } = this.sides[index] as Drawing;
      const pixels = (width - LABELS) * Math.min(devicePixelRatio, 2);
      source.want(
        {
          where: this.where,
          revision: (this.all[index] as TimelineRows).revision,
          span: this.span,
          pixels,
          colour: colouring,
          rows: this.rowsIn(index, BESIDE),
          rowsInView: this.rowsIn(index, 0),
        },
        picture,
      );
    });
    this.screen.request();
    clearTimeout(this.settled);
    this.settled = window.setTimeout(() => void this.settle(), SETTLED_MS);
  }

  private take(index: number, picture: Picture): void {
    const side = this.sides[index] as Drawing;
    if (picture.revision !== this.all[index]?.revision || picture.asked.colour !== side.colouring) {
      return; // the view is asked for anew when there are other rows
    }
    if (this.sources[index]?.isBetter(picture, side.picture) !== true) {
      return;
    }
    side.picture = picture;
    if (this.cursor.side === index && this.run !== null) {
      this.run = runLike(picture, this.run);
    }
    this.screen.redraw();
    if (this.settled === 0) {
      void this.settle(); // it came after that
    }
  }

  // Nobody moves any more.
  private async settle(): Promise<void> {
    this.settled = 0;
    this.address.note(this.span);
    const many = (side: number): string =>
      `${SIDE_NAMES[side] ?? ""} ${(this.all[side]?.events ?? 0).toLocaleString("en")} calls in ${durationText(this.all[side]?.span_ns ?? 0)}`;
    const isSaid = this.run !== null && this.run.end >= this.span.from && this.run.begin <= this.span.to;
    if (!isSaid) {
      this.words.textContent = `${durationText(this.span.to - this.span.from)} in view · ${this.lanes.lanes.length.toLocaleString("en")} lanes, the first trace above the second · ${many(0)}, ${many(1)}`;
    } // else the words of the chosen call stay
    const found = await Promise.all(
      this.sides.map((side, index) =>
        askTargets(side, wideRuns(side, this.rowsIn(index, 0)), this.asking.signal).catch(() => []),
      ),
    );
    found.forEach((targets, index) =>
      targets.forEach(([event, target]) => this.sides[index]?.targets.set(event, target)),
    );
    if (found.some((targets) => targets.length > 0)) {
      this.screen.redraw();
    }
  }
}

let stage: PairStage | null = null;

export async function timelinePanel(scene: Scene): Promise<Child[]> {
  const where = scene.place.parameters.get("where") ?? "";
  const all = (await Promise.all([
    askTimelineRows(where, scene.signal, "this"),
    askTimelineRows(where, scene.signal, "other"),
  ])) as Two<TimelineRows>;
  if (scene.signal.aborted) {
    return [];
  }
  if (all.every(({ rows }) => rows.kind.length === 0)) {
    return [note(harmless("no call in either"))];
  }
  if (stage === null || !stage.isOf(all, where)) {
    stage?.leaveView();
    stage = new PairStage(all, where, isDifferentFirst());
  }
  const shown = stage;
  scene.signal.addEventListener(
    "abort",
    () => {
      if (place().view !== "compare") {
        shown.leaveView();
        stage = stage === shown ? null : stage;
      }
    },
    { once: true },
  );
  requestAnimationFrame(() => shown.update()); // it has its room then
  return [shown.root];
}
