// The timeline: all calls of all threads, from a whole day to a microsecond. The server draws levels of detail (src/analysis/timeline), the page
// asks for what is in view and a little beside it.

import { askFlows, askTimelineProgress, askTimelineRows, type Colouring, type Picture, type TimelineRows } from "../client/timeline";
import { Lanes, type Lane } from "../model/lanes";
import { go, note as noteInAddress, place, selection } from "../model/place";
import { around, clamped, spanIn, spanText, whole, type TimeSpan } from "../model/time_span";
import { bytesText, durationText } from "../model/words";
import { button, choice, element, failure, note } from "./elements";
import { CanvasPen, SvgPen } from "./timeline_pen";
import { saveButtons } from "./save";
import { AXIS, draw, LABELS, legend, scaleOf, timeAt, type Drawing } from "./timeline_drawing";
import { takeHands, type Hands } from "./timeline_hands";
import { PictureSource } from "./timeline_source";
import { askTargets, eventWords, gapWords, runAt, runWords, viewTable, type Run } from "./timeline_words";
import type { Scene, View } from "./view";

const BESIDE = 0.5; // of what is in view, asked for on both sides: it is there when somebody moves
const ROWS_BESIDE = 4;
const WIDTH_MAX = 8192; // pixels of a picture; the server's limit
const SETTLED_MS = 250; // nobody moves any more: words may be asked for
const WIDE = 90; // pixels of a slice whose target is written into it
const PROGRESS_MS = 250;

const colouringIn = (words: URLSearchParams): Colouring => {
  const word = words.get("colour");
  return word === "content" || word === "latency" ? word : "class";
};

class Stage implements Hands {
  readonly root = element("div", { class: "timeline" });
  private readonly canvas = element("canvas", { tabindex: "0", role: "application", "aria-label": "timeline: w and s zoom, a and d move, arrows go from call to call, Enter opens", "aria-describedby": "timeline-words" });
  private readonly filler = element("div", {});
  private readonly scroller = element("div", { class: "lanes" }, this.canvas, this.filler);
  private readonly bar = element("div", { class: "row" });
  private readonly tip = element("div", { class: "tip", role: "tooltip", hidden: "" });
  private readonly chosen = element("section", { "aria-label": "Chosen event", "aria-live": "polite", hidden: "" });
  private readonly words = element("p", { id: "timeline-words", class: "faint", "aria-live": "polite" });
  private readonly rowsTable = element("div", {});
  private readonly source = new PictureSource((picture) => this.take(picture), (error) => this.words.replaceChildren(failure(error)));
  private readonly state: Drawing;
  private chosenRun: Run | null = null;
  private wished = 0; // when the newest picture was asked for
  private frame = 0;
  private settled = 0;
  private steps = 0;
  private readonly asking = new AbortController(); // until somebody leaves
  private wording = new AbortController();
  private flowing = new AbortController();

  constructor(rows: TimelineRows, private where: string) {
    const { words } = place();
    const folded = new Set((words.get("fold") ?? "").split(",").filter((key) => key !== ""));
    const { from_ns, to_ns } = selection();
    const selected = from_ns !== undefined && to_ns !== undefined && to_ns > from_ns ? around(from_ns, to_ns, rows.span_ns) : whole(rows.span_ns);
    this.state = {
      lanes: new Lanes(rows, folded), span: clamped(spanIn(words.get("view")) ?? selected, rows.span_ns), picture: null, colouring: colouringIn(words), width: 800, height: 300, top: 0,
      selection: {}, brush: null, row: 0, run: null, targets: new Map(), flows: [],
    };
    const rest = element("details", {}, element("summary", {}, "What is in view, as a table"), this.rowsTable);
    this.root.replaceChildren(this.bar, this.scroller, this.tip, this.words, this.chosen, rest);
    takeHands(this.canvas, this);
    this.scroller.addEventListener("scroll", () => {
      this.state.top = this.scroller.scrollTop;
      this.hideTip();
      this.want();
    });
    new ResizeObserver(() => this.resize()).observe(this.scroller);
    rest.addEventListener("toggle", () => this.tell());
  }

  drawing(): Drawing {
    return this.state;
  }

  get filter(): string {
    return this.where;
  }

  // What the address says now; `rows` are new ones.
  update(rows: TimelineRows, where: string): void {
    const { from_ns, to_ns } = selection(), old = this.state.lanes;
    this.where = where;
    this.state.selection = { ...(from_ns === undefined ? {} : { from: from_ns }), ...(to_ns === undefined ? {} : { to: to_ns }) };
    this.state.colouring = colouringIn(place().words);
    if (rows.revision !== old.all.revision) {
      const followed = this.state.span.to >= old.all.span_ns;
      this.state.lanes = new Lanes(rows, new Set((place().words.get("fold") ?? "").split(",").filter((key) => key !== "")));
      this.state.picture = null;
      this.chosenRun = this.state.run = null;
      if (followed) {
        const length = this.state.span.from === 0 ? rows.span_ns * 1.02 : this.state.span.to - this.state.span.from;
        this.state.span = clamped({ from: rows.span_ns * 1.02 - length, to: rows.span_ns * 1.02 }, rows.span_ns);
      }
    }
    this.showBar();
    this.resize();
  }

  leaveView(): void {
    this.source.stop();
    this.asking.abort();
    this.wording.abort();
    this.flowing.abort();
    clearTimeout(this.settled);
  }

  // --- what hands do

  look(span: TimeSpan): void {
    this.state.span = span;
    this.hideTip();
    this.want();
  }

  scroll(by: number): void {
    this.scroller.scrollTop += by;
  }

  brush(span: TimeSpan | null): void {
    this.state.brush = span;
    this.redraw();
  }

  select(span: TimeSpan): void {
    go({ from: String(Math.round(span.from)), to: String(Math.round(span.to)), view: spanText(this.state.span) });
  }

  hover(x: number, y: number): void {
    if (this.tip.classList.contains("pinned")) {
      return;
    }
    const lane = this.laneAt(y), run = this.runAt(x, y);
    const slack = timeAt(this.state, x + 2) - timeAt(this.state, x);
    const gaps = lane === null || x < LABELS ? "" : gapWords(this.state, lane.row, timeAt(this.state, x), slack);
    const words = [run === null ? "" : runWords(this.state, run), gaps].filter((text) => text !== "").join("\n");
    this.showTip(x, y, words);
    this.canvas.style.cursor = x < LABELS && lane?.isOpen !== null && lane !== null ? "pointer" : run !== null ? "pointer" : "default";
  }

  leave(): void {
    if (!this.tip.classList.contains("pinned")) {
      this.hideTip();
    }
  }

  choose(x: number, y: number): void {
    const lane = this.laneAt(y);
    this.canvas.focus({ preventScroll: true });
    this.hideTip();
    if (lane === null) {
      return;
    }
    this.state.row = lane.row;
    if (x < LABELS) {
      this.fold(lane.row);
      return;
    }
    const run = this.runAt(x, y);
    this.setRun(run);
    if (run !== null) {
      this.showTip(x, y, runWords(this.state, run));
      this.tip.classList.add("pinned");
      void this.showChosen();
    }
  }

  enter(x: number, y: number): void {
    const run = this.runAt(x, y);
    if (run !== null && x >= LABELS) {
      this.look(around(run.begin, run.end, this.state.lanes.all.span_ns));
    }
  }

  step(rows: number, runs: number): void {
    const { lanes, row } = this.state;
    if (rows !== 0) {
      const at = lanes.lanes.findIndex((lane) => lane.row === row);
      const next = lanes.lanes[Math.min(Math.max(at + rows, 0), lanes.lanes.length - 1)];
      if (next !== undefined) {
        this.state.row = next.row;
        this.setRun(null);
        this.scrollTo(next);
      }
      return;
    }
    this.stepRun(runs);
  }

  open(): void {
    const lane = this.state.lanes.lanes.find(({ row }) => row === this.state.row);
    if (this.chosenRun !== null) {
      void this.showChosen();
    } else if (lane !== undefined && lane.isOpen !== null) {
      this.fold(lane.row);
    }
  }

  // --- rows and runs

  private laneAt(y: number): Lane | null {
    return y < AXIS ? null : this.state.lanes.at(y - AXIS + this.state.top);
  }

  // The last one that is drawn there.
  private runAt(x: number, y: number): Run | null {
    const lane = this.laneAt(y), { picture } = this.state;
    const runs = lane === null ? undefined : picture?.runsOf.get(lane.row);
    if (lane === null || picture === null || runs === undefined || x < LABELS) {
      return null;
    }
    const { add, factor } = scaleOf(this.state, picture);
    for (let slack = 0; slack <= 3; slack += 3) {
      for (let run = runs.end - 1; run >= runs.begin; --run) {
        const x0 = add + factor * (picture.x0[run] ?? 0), x1 = Math.max(add + factor * (picture.x1[run] ?? 0), x0 + 1);
        if (x >= x0 - slack && x < x1 + slack) {
          return runAt(picture, lane.row, run);
        }
      }
    }
    return null;
  }

  private stepRun(by: number): void {
    const { picture, row, span } = this.state;
    const runs = picture?.runsOf.get(row);
    if (picture === null || runs === undefined || runs.end === runs.begin) {
      return;
    }
    let next = (this.chosenRun?.index ?? runs.begin - 1) + by;
    if (this.chosenRun === null) {
      next = runs.begin;
      while (next < runs.end - 1 && runAt(picture, row, next).end < span.from) {
        ++next;
      }
    }
    const run = runAt(picture, row, Math.min(Math.max(next, runs.begin), runs.end - 1));
    this.setRun(run);
    this.words.textContent = runWords(this.state, run).replaceAll("\n", ", ");
    if (run.end < span.from || run.begin > span.to) {
      const length = span.to - span.from;
      this.look(clamped({ from: run.begin - length / 2, to: run.begin + length / 2 }, this.state.lanes.all.span_ns));
    }
  }

  private setRun(run: Run | null): void {
    this.chosenRun = run;
    this.state.run = run;
    this.redraw();
  }

  private fold(row: number): void {
    this.state.lanes.fold(row);
    this.folded();
  }

  private folded(): void {
    const { lanes } = this.state;
    this.resize();
    noteInAddress({ fold: lanes.foldedKeys().join(",") || null });
  }

  private scrollTo(lane: Lane): void {
    const top = this.scroller.scrollTop, room = this.state.height - AXIS;
    if (lane.top < top) {
      this.scroller.scrollTop = lane.top;
    } else if (lane.top + lane.height > top + room) {
      this.scroller.scrollTop = lane.top + lane.height - room;
    }
  }

  // --- asking and drawing

  private resize(): void {
    const scale = devicePixelRatio, { clientWidth, clientHeight } = this.scroller;
    this.state.width = Math.max(clientWidth, LABELS + 100);
    this.state.height = Math.max(clientHeight, 120);
    this.canvas.width = Math.round(this.state.width * scale);
    this.canvas.height = Math.round(this.state.height * scale);
    this.canvas.style.width = `${this.state.width}px`;
    this.canvas.style.height = `${this.state.height}px`;
    this.filler.style.height = `${Math.max(this.state.lanes.height + AXIS - this.state.height, 0)}px`;
    this.state.top = this.scroller.scrollTop;
    this.want();
  }

  private rowsInView(): number[] {
    const { lanes, top, height } = this.state;
    const [first, end] = lanes.between(top, top + height - AXIS);
    return lanes.lanes.slice(Math.max(first - ROWS_BESIDE, 0), end + ROWS_BESIDE).map(({ row }) => row);
  }

  private want(): void {
    const { span, lanes, width, colouring } = this.state;
    const length = span.to - span.from, scale = Math.min(devicePixelRatio, 2);
    const from = Math.max(Math.floor(span.from - BESIDE * length), 0), to = Math.ceil(span.to + BESIDE * length);
    const pixels = Math.min(Math.max(Math.round(((to - from) / length) * (width - LABELS) * scale), 1), WIDTH_MAX);
    this.wished = performance.now();
    this.canvas.dataset["state"] = "asking";
    this.source.ask({ where: this.where, revision: lanes.all.revision, from, to, width: pixels, colour: colouring, rows: this.rowsInView() });
    this.redraw();
    clearTimeout(this.settled);
    this.settled = window.setTimeout(() => void this.settle(), SETTLED_MS);
  }

  private take(picture: Picture): void {
    if (picture.revision !== this.state.lanes.all.revision) {
      void this.askAgain();
      return;
    }
    if (picture.asked.colour === this.state.colouring) {
      this.state.picture = picture;
      this.redraw();
    }
  }

  // The rows have other numbers by now.
  private async askAgain(): Promise<void> {
    try {
      this.update(await askTimelineRows(this.where, this.asking.signal), this.where);
    } catch (error) {
      if (!this.asking.signal.aborted) {
        this.words.replaceChildren(failure(error));
      }
    }
  }

  private redraw(): void {
    if (this.frame === 0) {
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.drawNow();
      });
    }
  }

  private drawNow(): void {
    const pen = this.canvas.getContext("2d");
    if (pen === null) {
      return;
    }
    const { width, height } = this.canvas;
    pen.setTransform(width / this.state.width, 0, 0, height / this.state.height, 0, 0);
    const begin = performance.now();
    draw(new CanvasPen(pen), this.state);
    this.canvas.dataset["drawing"] = (performance.now() - begin).toFixed(1);
    // For measurements: how long the newest wish took until it was drawn.
    if (this.canvas.dataset["state"] === "asking" && !this.source.isBusy && this.state.picture !== null) {
      this.canvas.dataset["state"] = "drawn";
      this.canvas.dataset["step"] = (performance.now() - this.wished).toFixed(1);
      this.canvas.dataset["steps"] = String(++this.steps);
    }
  }

  // --- words

  private async settle(): Promise<void> {
    noteInAddress({ view: spanText(this.state.span) });
    this.tell();
    const { picture } = this.state;
    if (picture === null) {
      return;
    }
    const wide: Run[] = [], { factor } = scaleOf(this.state, picture);
    for (const row of this.rowsInView()) {
      const runs = picture.runsOf.get(row);
      for (let run = runs?.begin ?? 0; run < (runs?.end ?? 0); ++run) {
        if ((picture.singleOf[run] ?? -1) >= 0 && ((picture.x1[run] ?? 0) - (picture.x0[run] ?? 0)) * factor > WIDE) {
          wide.push(runAt(picture, row, run));
        }
      }
    }
    this.wording.abort();
    this.wording = new AbortController();
    void this.showFlows();
    const targets = await askTargets(this.state, wide, this.wording.signal).catch(() => []);
    for (const [event, target] of targets) {
      this.state.targets.set(event, target);
    }
    if (targets.length > 0) {
      this.redraw();
    }
  }

  private get hasFlows(): boolean {
    return place().words.get("flows") === "on";
  }

  // The first time the server follows all bytes of the trace.
  private async showFlows(): Promise<void> {
    this.flowing.abort();
    this.flowing = new AbortController();
    const { signal } = this.flowing, { span, lanes, width, top, height } = this.state;
    if (!this.hasFlows) {
      this.state.flows = [];
      return;
    }
    const [first, end] = lanes.between(top, top + height - AXIS);
    const rows = lanes.lanes.slice(first, end).map(({ row }) => row);
    const waits = setTimeout(() => this.words.replaceChildren("following the bytes of all calls… ", button("cancel", () => go({ flows: null }))), 2 * SETTLED_MS);
    try {
      const question = { where: this.where, revision: lanes.all.revision, from: Math.floor(span.from), to: Math.ceil(span.to), width: Math.round(Math.min(width - LABELS, WIDTH_MAX)), rows };
      this.state.flows = (await askFlows(question, signal)).flows;
      const many = this.state.flows.reduce((sum, { count }) => sum + count, 0), bytes = this.state.flows.reduce((sum, flow) => sum + flow.bytes, 0);
      this.words.textContent = `${many.toLocaleString("en")} flows of ${bytesText(bytes)} between the rows in view${many > this.state.flows.length ? ", as bundles" : ""}`;
      this.redraw();
    } catch (error) {
      if (!signal.aborted) {
        this.words.replaceChildren(failure(error));
      }
    } finally {
      clearTimeout(waits);
    }
  }

  private tell(): void {
    const { span, lanes } = this.state, rows = this.rowsInView();
    if (this.chosenRun === null) {
      this.words.textContent = `${durationText(span.to - span.from)} in view · ${lanes.lanes.length.toLocaleString("en")} lanes · ${lanes.all.events.toLocaleString("en")} calls${this.where === "" ? "" : " that the filter leaves"}`;
    }
    if (this.rowsTable.closest("details")?.open === true) {
      this.rowsTable.replaceChildren(viewTable(this.state, rows));
    }
  }

  private async showChosen(): Promise<void> {
    const run = this.chosenRun;
    if (run === null) {
      return;
    }
    this.chosen.hidden = false;
    const title = element("h2", {}, run.event === null ? "Chosen calls" : "Chosen event");
    if (run.event === null) {
      this.chosen.replaceChildren(title, note(runWords(this.state, run).replaceAll("\n", " · ")), button("zoom to them", () => this.look(around(run.begin, run.end, this.state.lanes.all.span_ns))));
      return;
    }
    this.chosen.replaceChildren(title, note("asking…"));
    try {
      const words = await eventWords(this.state, run, this.asking.signal);
      if (this.chosenRun === run) {
        this.chosen.replaceChildren(title, ...words);
      }
    } catch (error) {
      if (this.chosenRun === run && !this.asking.signal.aborted) {
        this.chosen.replaceChildren(title, failure(error));
      }
    }
  }

  private showTip(x: number, y: number, words: string): void {
    this.tip.hidden = words === "";
    this.tip.textContent = words;
    const area = this.canvas.getBoundingClientRect(), root = this.root.getBoundingClientRect();
    const width = this.tip.offsetWidth, isLeft = x + width + 24 > this.state.width;
    this.tip.style.left = `${area.left - root.left + x + (isLeft ? -width - 12 : 14)}px`;
    this.tip.style.top = `${area.top - root.top + Math.min(y + 16, this.state.height - this.tip.offsetHeight - 4)}px`;
  }

  private hideTip(): void {
    this.tip.hidden = true;
    this.tip.classList.remove("pinned");
  }

  private showBar(): void {
    const colours: [string, string][] = [["class", "class"], ["content", "content"], ["latency", "latency"]];
    const items = legend(this.state.colouring).map(([words, ink]) => {
      const swatch = element("span", { class: "swatch" });
      swatch.style.background = ink;
      return element("li", {}, swatch, words);
    });
    const middle = (): number => (this.state.span.from + this.state.span.to) / 2;
    const zoom = (factor: number): void => {
      const { span, lanes } = this.state, length = (span.to - span.from) * factor;
      this.look(clamped({ from: middle() - length / 2, to: middle() + length / 2 }, lanes.all.span_ns));
    };
    this.bar.replaceChildren(
      choice("colour by", colours, this.state.colouring, (name) => go({ colour: name === "class" ? null : name, view: spanText(this.state.span) })),
      element("span", { class: "choice", role: "group", "aria-label": "zoom" }, button("+", () => zoom(0.5), { "aria-label": "zoom in" }), button("−", () => zoom(2), { "aria-label": "zoom out" }), button("all", () => this.look(whole(this.state.lanes.all.span_ns)))),
      element("span", { class: "choice", role: "group", "aria-label": "processes" }, button("open all", () => this.foldAll(true)), button("fold all", () => this.foldAll(false))),
      button("flows", () => go({ flows: this.hasFlows ? null : "on", view: spanText(this.state.span) }), { "aria-pressed": String(this.hasFlows), title: "where bytes went, as arrows" }),
      element("ul", { class: "legend", "aria-label": "colours" }, ...items, element("li", { class: "faint" }, "pale: waiting · hatched: events are missing · red: failed")),
      saveButtons("timeline", () => this.svg()),
    );
  }

  private foldAll(isOpen: boolean): void {
    this.state.lanes.foldAll(isOpen);
    this.folded();
  }

  private svg(): string {
    const pen = new SvgPen(this.state.width, this.state.height);
    draw(pen, this.state);
    return pen.document();
  }
}

let stage: Stage | null = null;

// The rows; the first time the server reads all of the trace.
async function rowsFor(scene: Scene, where: string): Promise<TimelineRows> {
  const words = element("progress", { "aria-label": "reading the trace" });
  const looks = setInterval(() => {
    void askTimelineProgress(where).then(({ read, of }) => {
      if (of > 0 && !scene.signal.aborted) {
        words.max = of;
        words.value = Math.min(read, of);
        if (!words.isConnected && stage?.root.isConnected !== true) {
          scene.main.replaceChildren(note("reading the trace…"), words);
        }
      }
    }, () => undefined);
  }, PROGRESS_MS);
  try {
    return await askTimelineRows(where, scene.signal);
  } finally {
    clearInterval(looks);
  }
}

export const timeline: View = {
  name: "timeline",
  title: "Timeline",
  key: "2",
  async show(scene) {
    const where = scene.place.words.get("where") ?? "";
    const rows = await rowsFor(scene, where);
    if (scene.signal.aborted) {
      return;
    }
    if (rows.rows.kind.length === 0) {
      stage = null;
      scene.main.replaceChildren(note(where === "" ? "No event was recorded." : "The filter leaves no event."));
      return;
    }
    if (stage === null || !stage.root.isConnected || stage.filter !== where) {
      stage?.leaveView();
      stage = new Stage(rows, where);
      scene.main.replaceChildren(stage.root);
    }
    stage.update(rows, where);
    const shown = stage;
    scene.signal.addEventListener("abort", () => {
      if (place().view !== "timeline") {
        shown.leaveView();
      }
    }, { once: true });
  },
};
