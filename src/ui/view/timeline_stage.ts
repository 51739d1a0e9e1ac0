// What is seen of a timeline and what hands do with it: the state of the view, between the server's pictures and the canvas.
//
//   hands ──▶ span, rows ──▶ want() ──▶ PictureSource ──▶ take() ──▶ redraw()
//                  └────────────────▶ redraw() with the picture that is there, stretched and moved

import { askTimelineRows, type Colouring, type Picture, type TimelineRows } from "../client/timeline";
import { Lanes, type Lane } from "../model/lanes";
import { go, note as noteInAddress, place, selection } from "../model/place";
import { around, clamped, spanIn, spanText, whole, zoomed, type TimeSpan } from "../model/time_span";
import { durationText } from "../model/words";
import { button, element, failure, note } from "./elements";
import { CanvasPen } from "./pen_canvas";
import { SvgPen } from "./pen_svg";
import { barOf } from "./timeline_bar";
import { AXIS, draw, LABELS, scaleOf, timeAt, type Drawing } from "./timeline_drawing";
import { takeHands, type Hands } from "./timeline_hands";
import { PictureSource } from "./timeline_source";
import { askTargets, eventWords, flowsInView, flowsText, gapWords, runAt, runWords, viewTable, type Run } from "./timeline_words";

const BESIDE = 0.2; // of what is in view, asked for on both sides: it is there when somebody moves
const ROWS_BESIDE = 4;
const WIDTH_MAX = 8192; // pixels of a picture; the server's limit
const SETTLED_MS = 250; // nobody moves any more: words may be asked for
const WIDE = 90; // pixels of a slice whose target is written into it

const colouringIn = (words: URLSearchParams): Colouring => {
  const word = words.get("colour");
  return word === "content" || word === "latency" ? word : "class";
};

export class Stage implements Hands {
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
    const { signal } = this.flowing;
    if (!this.hasFlows) {
      this.state.flows = [];
      return;
    }
    const waits = setTimeout(() => this.words.replaceChildren("following the bytes of all calls… ", button("cancel", () => go({ flows: null }))), 2 * SETTLED_MS);
    try {
      this.state.flows = await flowsInView(this.state, this.where, signal);
      this.words.textContent = flowsText(this.state.flows);
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
      this.words.textContent = `${durationText(span.to - span.from)} in view · ${lanes.lanes.length.toLocaleString("en")} lanes · ${lanes.all.events.toLocaleString("en")} calls in all${this.where === "" ? "" : " that the filter leaves"}`;
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
    const { lanes, colouring } = this.state;
    const zoom = (factor: number): void => this.look(zoomed(this.state.span, factor, (this.state.span.from + this.state.span.to) / 2, lanes.all.span_ns));
    this.bar.replaceChildren(
      ...barOf({
        colouring,
        hasFlows: this.hasFlows,
        colour: (name) => go({ colour: name === "class" ? null : name, view: spanText(this.state.span) }),
        flows: () => go({ flows: this.hasFlows ? null : "on", view: spanText(this.state.span) }),
        zoom,
        all: () => this.look(whole(lanes.all.span_ns)),
        foldAll: (isOpen) => this.foldAll(isOpen),
        svg: () => this.svg(),
      }),
    );
  }

  private foldAll(isOpen: boolean): void {
    this.state.lanes.foldAll(isOpen);
    this.folded();
  }

  private svg(): string {
    const pen = new SvgPen(this.state.width, this.state.height);
    draw(pen, this.state);
    return pen.fileText();
  }
}
