// Space-time on the screen: drawn when something has changed, moved by wheel, drag and keys, picked by click.

import type { SpaceTime } from "../model/space_time";
import { colour } from "../model/theme";
import { element } from "./elements";
import { CanvasRenderer } from "./canvas_renderer";
import { SvgRenderer } from "./svg_renderer";
import {
  datumAt,
  drawSpaceTime,
  frameOf,
  lengthOf,
  momentAt,
  pixelOf,
  type Datum,
  type Frame,
  type Picture,
} from "./space_time_drawing";

const STEP = 0.2; // of the window, a key
const ZOOM = 1.25; // a key, or a click of the wheel
const DRAG_MIN = 4; // pixels; less is a click

export interface CanvasListener {
  moved(window: [number, number]): void; // zoomed or panned
  selected(begin: number, end: number): void; // a stretch of time
  hovered(datum: Datum | null): void;
  picked(datum: Datum | null): void;
}

export interface Stage {
  root: HTMLElement;
  show(picture: Picture): void; // something else, or in other colours
  svgText(): string;
}

interface Drag {
  at: [number, number];
  window: [number, number];
  selects: boolean;
  isFar: boolean;
}

export class SpaceTimeCanvas implements Stage {
  readonly root = element("div", { class: "scroll space-time" });
  private readonly canvas = element("canvas", {
    tabindex: "0",
    role: "img",
    "aria-label": "Space-time: lanes and messages; the same as a table is below",
    "data-chart": "space-time",
  });
  private picture: Picture | null = null;
  private drag: Drag | null = null;
  private brush: [number, number] | null = null; // moments
  private isDue = false;

  constructor(
    private window: [number, number],
    private readonly isDown: boolean,
    private readonly roomHeight: () => number,
    private readonly listener: CanvasListener,
    signal: AbortSignal,
  ) {
    this.root.append(this.canvas);
    const watch = new ResizeObserver(() => this.redraw());
    watch.observe(this.root);
    signal.addEventListener("abort", () => watch.disconnect());
    this.listen(signal);
  }

  show(picture: Picture): void {
    this.picture = picture;
    this.redraw();
  }

  svgText(): string {
    const frame = this.frame(),
      renderer = new SvgRenderer(frame.width, frame.height);
    if (this.picture !== null) {
      drawSpaceTime(renderer, frame, this.picture);
    }
    return renderer.fileText();
  }

  private get data(): SpaceTime | null {
    return this.picture?.data ?? null;
  }

  private frame(): Frame {
    return frameOf(
      Math.max(this.data?.lanes.length ?? 1, 1),
      { width: Math.max(this.root.clientWidth, 400), height: this.roomHeight() },
      this.window,
      this.isDown,
    );
  }

  private redraw(): void {
    if (!this.isDue) {
      this.isDue = true;
      requestAnimationFrame(() => {
        this.isDue = false;
        this.draw();
      });
    }
  }

  private draw(): void {
    const { canvas, picture } = this,
      frame = this.frame(),
      ratio = devicePixelRatio;
    const context = canvas.getContext("2d");
    if (context === null || picture === null) {
      return;
    }
    canvas.width = Math.round(frame.width * ratio);
    canvas.height = Math.round(frame.height * ratio);
    canvas.style.width = `${frame.width}px`;
    canvas.style.height = `${frame.height}px`;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawSpaceTime(new CanvasRenderer(context), frame, picture);
    this.drawBrush(context, frame);
    canvas.dataset["window"] = this.window.join(" ");
  }

  private drawBrush(context: CanvasRenderingContext2D, frame: Frame): void {
    if (this.brush === null) {
      return;
    }
    const [a, b] = this.brush.map((moment) => pixelOf(frame, moment)) as [number, number],
      { plot } = frame;
    context.globalAlpha = 0.2;
    context.fillStyle = colour("mark");
    if (frame.isDown) {
      context.fillRect(plot.x, a, plot.width, b - a);
    } else {
      context.fillRect(a, plot.y, b - a, plot.height);
    }
  }

  private setWindow(begin: number, end: number): void {
    const span = this.data?.span ?? [0, 1],
      most = (span[1] - span[0]) * 1.2 + 1;
    const size = Math.min(Math.max(end - begin, 1), most),
      middle = Math.min(Math.max((begin + end) / 2, span[0]), span[1]);
    this.window = [middle - size / 2, middle + size / 2];
    this.redraw();
    this.listener.moved(this.window);
  }

  private zoom(factor: number, around: number): void {
    const [begin, end] = this.window;
    this.setWindow(around - (around - begin) / factor, around + (end - around) / factor);
  }

  private pan(share: number): void {
    const by = (this.window[1] - this.window[0]) * share;
    this.setWindow(this.window[0] + by, this.window[1] + by);
  }

  private positionOf(event: MouseEvent): [number, number] {
    const area = this.canvas.getBoundingClientRect();
    return [event.clientX - area.left, event.clientY - area.top];
  }

  private momentOf(at: [number, number]): number {
    return momentAt(this.frame(), this.isDown ? at[1] : at[0]);
  }

  private listen(signal: AbortSignal): void {
    const { canvas } = this;
    canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.zoom(ZOOM ** (-event.deltaY / 100), this.momentOf(this.positionOf(event)));
      },
      { passive: false },
    );
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.drag = { at: this.positionOf(event), window: this.window, selects: event.shiftKey, isFar: false };
    });
    canvas.addEventListener("pointermove", (event) => this.onMove(this.positionOf(event)));
    canvas.addEventListener("pointerup", (event) => this.onUp(this.positionOf(event)));
    canvas.addEventListener("pointerleave", () => this.listener.hovered(null));
    document.addEventListener("keydown", (event) => this.onKey(event), { signal });
  }

  private onMove(at: [number, number]): void {
    const { drag } = this;
    if (drag === null) {
      this.listener.hovered(this.data === null ? null : datumAt(this.frame(), this.data, at));
      return;
    }
    drag.isFar ||= Math.hypot(at[0] - drag.at[0], at[1] - drag.at[1]) >= DRAG_MIN;
    if (!drag.isFar) {
      return;
    }
    if (drag.selects) {
      const [a, b] = [this.momentOf(drag.at), this.momentOf(at)];
      this.brush = [Math.min(a, b), Math.max(a, b)];
      this.redraw();
    } else {
      const pixels = this.isDown ? drag.at[1] - at[1] : drag.at[0] - at[0];
      const by = (pixels / lengthOf(this.frame())) * (drag.window[1] - drag.window[0]);
      this.setWindow(drag.window[0] + by, drag.window[1] + by);
    }
  }

  private onUp(at: [number, number]): void {
    const { drag, brush } = this;
    this.drag = this.brush = null;
    if (brush !== null) {
      this.redraw();
      this.listener.selected(...brush);
    } else if (drag !== null && !drag.isFar && this.data !== null) {
      this.listener.picked(datumAt(this.frame(), this.data, at));
    }
  }

  private onKey(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      target.isContentEditable ||
      ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName)
    ) {
      return;
    }
    const middle = (this.window[0] + this.window[1]) / 2;
    const keys: Record<string, () => void> = {
      w: () => this.zoom(ZOOM, middle),
      s: () => this.zoom(1 / ZOOM, middle),
      a: () => this.pan(-STEP),
      d: () => this.pan(STEP),
      Escape: () => this.listener.picked(null),
      ...(target === this.canvas
        ? {
            ArrowRight: () => this.step(1),
            ArrowLeft: () => this.step(-1),
            ArrowDown: () => this.step(1),
            ArrowUp: () => this.step(-1),
          }
        : {}),
    };
    const does = keys[event.key];
    if (does !== undefined) {
      event.preventDefault();
      does();
    }
  }

  // Chooses the next call in time, or the one before; the window goes along.
  private step(by: number): void {
    const moves = this.data?.moves ?? [],
      here = this.picture?.chosen ?? null;
    const inWindow = moves.findIndex(({ x }) => x >= this.window[0]);
    const next = Math.min(Math.max(here === null ? inWindow : here + by, 0), moves.length - 1),
      move = moves[next];
    if (move === undefined) {
      return;
    }
    if (move.x < this.window[0] || move.x > this.window[1]) {
      const half = (this.window[1] - this.window[0]) / 2;
      this.setWindow(move.x - half, move.x + half);
    }
    this.listener.picked({ move: next, flow: null });
  }
}
