// What is seen of a timeline and what input does with it: the state of the view, between the server's pictures and the canvas.
//
//   input ──▶ span, rows ──▶ want() ──▶ PictureSource ──▶ take() ──▶ redraw()
//                  └────────────────▶ redraw() with the picture that is there, stretched and moved

import type { TimelineRows, Trace } from "../generated/api";
import { askTimelineRows, type Picture } from "../client/timeline";
import { foldedIn, foldedText, Lanes, type Lane } from "../model/lanes";
import { go, note as noteInAddress, place, selection } from "../model/place";
import {
  around,
  clamped,
  inView,
  spanInAddress,
  spanText,
  ViewInAddress,
  whole,
  zoomed,
  type TimeSpan,
} from "../model/time_span";
import { durationText, momentText } from "../model/words";
import { button, element, failure } from "./elements";
import { exportButtons } from "./save";
import { barOf, colouringIn } from "./timeline_bar";
import { Chosen } from "./timeline_chosen";
import { ExactAsker } from "./timeline_exact";
import { AXIS, draw, LABELS, timeAt, type Drawing } from "./timeline_drawing";
import { listenToInput, type InputReceiver, type Seen } from "./timeline_input";
import { runAfter, runLike, runUnder, wideRuns, type Run } from "./timeline_runs";
import { Screen } from "./timeline_screen";
import { PictureSource } from "./timeline_source";
import { askTargets, flowsInView, flowsText, gapWords, runWords, viewTable } from "./timeline_words";

const ROWS_BESIDE = 4;
const SETTLED_MS = 250; // nobody moves any more: words may be asked for

export class Stage implements InputReceiver {
  readonly root = element("div", { class: "timeline" });
  private readonly bar = element("div", { class: "row" });
  private readonly words = element("p", { id: "timeline-words", class: "faint", "aria-live": "polite" });
  private readonly rowsTable = element("div", {});
  private readonly exports = exportButtons(() => inView(selection(), this.state.span, this.state.lanes.all.span_ns));
  private readonly source = new PictureSource({
    take: (picture) => this.take(picture),
    fail: (error) => this.words.replaceChildren(failure(error)),
  });
  private readonly screen: Screen;
  private readonly chosen: Chosen;
  private readonly state: Drawing;
  private readonly address = new ViewInAddress();
  private lanes: Lanes;
  private known_ns = 0;
  private chosenRun: Run | null = null;
  private settled = 0; // a timer; 0: nobody moves any more
  private readonly asking = new AbortController(); // until somebody leaves
  private readonly exact = new ExactAsker(this.asking.signal);
  private wording = new AbortController();
  private flowing = new AbortController();

  constructor(
    rows: TimelineRows,
    private where: string,
  ) {
    const { parameters } = place();
    this.lanes = new Lanes(rows, foldedIn(parameters));
    this.state = {
      side: "this",
      lanes: this.lanes,
      span: spanInAddress(rows.span_ns),
      picture: null,
      colouring: colouringIn(parameters),
      width: 800,
      height: 300,
      top: 0,
      selection: {},
      brush: null,
      row: 0,
      run: null,
      targets: new Map(),
      exact: new Map(),
      flows: [],
    };
    const label = "timeline: w and s zoom, a and d move, arrows go from call to call, Enter opens";
    this.screen = new Screen({ "aria-label": label, "aria-describedby": "timeline-words" }, this.state, {
      draw: (renderer) => draw(renderer, this.state),
      isComplete: () => this.source.isWhole(this.state.picture),
      changed: () => this.want(),
    });
    this.chosen = new Chosen((span) => this.look(span), this.asking.signal);
    const rest = element("details", {}, element("summary", {}, "What is in view, as a table"), this.rowsTable);
    this.root.replaceChildren(this.bar, this.screen.root, this.screen.tip.root, this.words, this.chosen.root, rest);
    listenToInput(this.screen.canvas, this);
    rest.addEventListener("toggle", () => this.tell());
  }

  seen(): Seen {
    return { span: this.state.span, width: this.state.width, whole_ns: this.state.lanes.all.span_ns };
  }

  get filter(): string {
    return this.where;
  }

  // The server reads what came since beside its answers. With a filter nobody knows whether it leaves some of that.
  isBehind({ events }: Trace): boolean {
    const { all } = this.lanes;
    return all.is_recording && (this.where !== "" || all.events < events);
  }

  // What the address says now; `rows` are new ones, of a trace that is known to be `known_ns` long.
  update(rows: TimelineRows, where: string, known_ns = this.known_ns): void {
    this.known_ns = known_ns;
    const { from_ns, to_ns } = selection(),
      old = this.state.lanes,
      view = this.address.taken(rows.span_ns);
    this.where = where;
    this.state.selection = {
      ...(from_ns === undefined ? {} : { from: from_ns }),
      ...(to_ns === undefined ? {} : { to: to_ns }),
    };
    this.state.colouring = colouringIn(place().parameters);
    if (rows.revision !== old.all.revision) {
      const followed = this.state.span.to >= old.all.span_ns;
      this.state.lanes = this.lanes = new Lanes(rows, foldedIn(place().parameters));
      this.state.picture = null;
      this.chosenRun = this.state.run = null;
      if (followed) {
        const length = this.state.span.from === 0 ? rows.span_ns * 1.02 : this.state.span.to - this.state.span.from;
        this.state.span = clamped({ from: rows.span_ns * 1.02 - length, to: rows.span_ns * 1.02 }, rows.span_ns);
      }
    }
    this.state.span = view ?? this.state.span;
    this.showBar();
    this.screen.fit(this.lanes.height);
  }

  leaveView(): void {
    this.source.stop();
    this.asking.abort();
    this.wording.abort();
    this.flowing.abort();
    clearTimeout(this.settled);
  }

  // --- what input does

  look(span: TimeSpan): void {
    this.state.span = span;
    this.screen.tip.hide();
    this.want();
  }

  scroll(by: number): void {
    this.screen.scroll(by);
  }

  brush(span: TimeSpan | null): void {
    this.state.brush = span;
    this.screen.redraw();
  }

  select(span: TimeSpan): void {
    go({ from: String(Math.round(span.from)), to: String(Math.round(span.to)), view: spanText(this.state.span) });
  }

  hover(x: number, y: number): void {
    const { tip, canvas } = this.screen;
    if (tip.isPinned) {
      return;
    }
    const lane = this.laneAt(y),
      run = this.runAt(x, y);
    const slack = timeAt(this.state, x + 2) - timeAt(this.state, x);
    const gaps = lane === null || x < LABELS ? "" : gapWords(this.state, lane.row, timeAt(this.state, x), slack);
    const words = [run === null ? "" : runWords(this.state, run), gaps].filter((text) => text !== "").join("\n");
    tip.show(canvas, x, y, words);
    this.exact.ask(this.state, run, () => this.hover(x, y));
    canvas.style.cursor =
      x < LABELS && lane?.isOpen !== null && lane !== null ? "pointer" : run !== null ? "pointer" : "default";
  }

  leave(): void {
    if (!this.screen.tip.isPinned) {
      this.exact.stop();
      this.screen.tip.hide();
    }
  }

  choose(x: number, y: number): void {
    const lane = this.laneAt(y),
      { tip, canvas } = this.screen;
    canvas.focus({ preventScroll: true });
    tip.hide();
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
      const say = (): void => tip.show(canvas, x, y, runWords(this.state, run));
      say();
      tip.pin();
      this.exact.ask(this.state, run, () => {
        if (tip.isPinned) {
          say();
        }
      });
      void this.chosen.show(this.state, run);
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
        this.screen.scrollTo(next);
      }
      return;
    }
    this.stepRun(runs);
  }

  open(): void {
    const lane = this.state.lanes.lanes.find(({ row }) => row === this.state.row);
    if (this.chosenRun !== null) {
      void this.chosen.show(this.state, this.chosenRun);
    } else if (lane !== undefined && lane.isOpen !== null) {
      this.fold(lane.row);
    }
  }

  // --- rows and runs

  private laneAt(y: number): Lane | null {
    return y < AXIS ? null : this.state.lanes.at(y - AXIS + this.state.top);
  }

  private runAt(x: number, y: number): Run | null {
    const lane = this.laneAt(y);
    return lane === null ? null : runUnder(this.state, lane.row, x);
  }

  private stepRun(by: number): void {
    const { picture, row, span } = this.state;
    const run = picture === null ? null : runAfter(picture, row, this.chosenRun, by, span);
    if (run === null) {
      return;
    }
    this.setRun(run);
    const say = (): void => void (this.words.textContent = runWords(this.state, run).replaceAll("\n", ", "));
    say();
    this.exact.ask(this.state, run, say);
    if (run.end < span.from || run.begin > span.to) {
      const length = span.to - span.from;
      this.look(clamped({ from: run.begin - length / 2, to: run.begin + length / 2 }, this.state.lanes.all.span_ns));
    }
  }

  private setRun(run: Run | null): void {
    this.chosenRun = run;
    this.state.run = run;
    this.screen.redraw();
  }

  private fold(row: number): void {
    this.lanes.fold(row);
    this.folded();
  }

  private folded(): void {
    const { lanes } = this;
    this.screen.fit(lanes.height);
    noteInAddress({ fold: foldedText(lanes.folded) });
  }

  // --- asking and drawing

  private rowsInView(beside = ROWS_BESIDE): number[] {
    const { lanes, top, height } = this.state;
    const [first, end] = lanes.between(top, top + height - AXIS);
    return lanes.lanes.slice(Math.max(first - beside, 0), end + beside).map(({ row }) => row);
  }

  private want(): void {
    const { span, lanes, width, colouring, picture } = this.state;
    const pixels = (width - LABELS) * Math.min(devicePixelRatio, 2);
    this.source.want(
      {
        where: this.where,
        revision: lanes.all.revision,
        span,
        pixels,
        colour: colouring,
        rows: this.rowsInView(),
        rowsInView: this.rowsInView(0),
      },
      picture,
    );
    this.screen.request();
    clearTimeout(this.settled);
    this.settled = window.setTimeout(() => void this.settle(), SETTLED_MS);
  }

  private take(picture: Picture): void {
    const { revision } = this.state.lanes.all;
    if (picture.asked.revision !== revision) {
      return; // asked before there were these rows, it is empty
    }
    if (picture.revision !== revision) {
      void this.askAgain();
      return;
    }
    if (picture.asked.colour === this.state.colouring && this.source.isBetter(picture, this.state.picture)) {
      const isAhead = this.source.isWhole(this.state.picture); // what is seen was there already
      this.state.picture = picture;
      this.chosenRun = this.chosenRun === null ? null : runLike(picture, this.chosenRun);
      if (!isAhead) {
        this.screen.redraw();
        if (this.settled === 0) {
          void this.settle(); // it came after that
        }
      }
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

  // --- words

  private async settle(): Promise<void> {
    this.settled = 0;
    this.address.note(this.state.span);
    this.tell();
    const { picture } = this.state;
    if (picture === null) {
      return;
    }
    this.wording.abort();
    this.wording = new AbortController();
    void this.showFlows();
    const targets = await askTargets(this.state, wideRuns(this.state, this.rowsInView()), this.wording.signal).catch(
      () => [],
    );
    for (const [event, target] of targets) {
      this.state.targets.set(event, target);
    }
    if (targets.length > 0) {
      this.screen.redraw();
    }
  }

  private get hasFlows(): boolean {
    return place().parameters.get("flows") === "on";
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
    const waits = setTimeout(
      () =>
        this.words.replaceChildren(
          "following the bytes of all calls… ",
          button("cancel", () => go({ flows: null })),
        ),
      2 * SETTLED_MS,
    );
    try {
      this.state.flows = await flowsInView(this.state, this.where, signal);
      this.words.textContent = flowsText(this.state.flows);
      this.screen.redraw();
    } catch (error) {
      if (!signal.aborted) {
        this.words.replaceChildren(failure(error));
      }
    } finally {
      clearTimeout(waits);
    }
  }

  private tell(): void {
    const { span, lanes } = this.state,
      rows = this.rowsInView();
    if (this.chosenRun === null) {
      this.words.textContent = `${durationText(span.to - span.from)} in view · ${lanes.lanes.length.toLocaleString("en")} lanes · ${lanes.all.events.toLocaleString("en")} events in all${this.where === "" ? "" : " that the filter leaves"}${this.lateWords()}`;
    }
    if (this.rowsTable.closest("details")?.open === true) {
      this.rowsTable.replaceChildren(viewTable(this.state, rows));
    }
  }

  private lateWords(): string {
    const { all } = this.lanes;
    return all.is_recording && this.where === "" && all.span_ns < this.known_ns
      ? ` · up to ${momentText(all.span_ns)}: what came since is being read`
      : "";
  }

  private showBar(): void {
    const { lanes, colouring } = this.state;
    const zoom = (factor: number): void =>
      this.look(zoomed(this.state.span, factor, (this.state.span.from + this.state.span.to) / 2, lanes.all.span_ns));
    this.bar.replaceChildren(
      ...barOf({
        name: "timeline",
        colouring,
        hasFlows: this.hasFlows,
        colour: (name) => go({ colour: name === "class" ? null : name, view: spanText(this.state.span) }),
        flows: () => go({ flows: this.hasFlows ? null : "on", view: spanText(this.state.span) }),
        zoom,
        all: () => this.look(whole(lanes.all.span_ns)),
        foldAll: (isOpen) => {
          this.lanes.foldAll(isOpen);
          this.folded();
        },
        svg: () => this.screen.svg(),
        exports: this.exports,
      }),
    );
  }
}
