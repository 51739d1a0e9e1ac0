// The canvas of a timeline: as large as the room that there is for it, over lanes that are scrolled beneath it; drawn at the next frame.

import { element } from "./elements";
import type { Renderer } from "./renderer";
import { CanvasRenderer } from "./canvas_renderer";
import { SvgRenderer } from "./svg_renderer";
import { Pixels } from "./pixels";
import { AXIS, LABELS, type Room } from "./timeline_drawing";
import { Tip } from "./timeline_tip";

export interface ScreenDelegate {
  draw(renderer: Renderer): void;
  isComplete(): boolean; // what is drawn is all that was asked for
  changed(): void; // its room
}

const HEIGHT_MIN = 120;

export class Screen {
  readonly canvas: HTMLCanvasElement;
  readonly root: HTMLElement;
  readonly tip = new Tip();
  private readonly filler = element("div", {});
  private readonly pixels = new Pixels();
  private lanesHeight = 0;
  private frame = 0;
  private requestedAt = 0; // when something else was asked for
  private steps = 0;

  // `room` is kept up to date.
  constructor(
    attributes: Record<string, string>,
    private readonly room: Room,
    private readonly delegate: ScreenDelegate,
  ) {
    this.canvas = element("canvas", { tabindex: "0", role: "application", ...attributes });
    this.root = element("div", { class: "lanes" }, this.canvas, this.filler);
    this.root.addEventListener("scroll", () => {
      this.room.top = this.root.scrollTop;
      this.tip.hide();
      this.delegate.changed();
    });
    new ResizeObserver(() => this.fit(this.lanesHeight)).observe(this.root);
  }

  // How high all lanes are by now.
  fit(lanesHeight: number): void {
    const { room, canvas } = this,
      scale = devicePixelRatio,
      { clientWidth, clientHeight } = this.root;
    this.lanesHeight = lanesHeight;
    room.width = Math.max(clientWidth, LABELS + 100);
    room.height = Math.max(clientHeight, HEIGHT_MIN);
    const [width, height] = [Math.round(room.width * scale), Math.round(room.height * scale)];
    const isOther = canvas.width !== width || canvas.height !== height;
    if (isOther) {
      [canvas.width, canvas.height] = [width, height];
      canvas.style.width = `${room.width}px`;
      canvas.style.height = `${room.height}px`;
    }
    this.filler.style.height = `${Math.max(lanesHeight + AXIS - room.height, 0)}px`;
    room.top = this.root.scrollTop;
    this.delegate.changed();
    if (isOther) {
      this.drawNow(); // a canvas that gets another size is empty, and would be seen so until the next frame
    }
  }

  scroll(by: number): void {
    this.root.scrollTop += by;
  }

  scrollTo(lane: { top: number; height: number }): void {
    const seen = this.room.height - AXIS;
    if (lane.top < this.root.scrollTop) {
      this.root.scrollTop = lane.top;
    } else if (lane.top + lane.height > this.root.scrollTop + seen) {
      this.root.scrollTop = lane.top + lane.height - seen;
    }
  }

  // Something else is to be seen.
  request(): void {
    this.requestedAt = performance.now();
    this.canvas.dataset["state"] = "asking";
    this.redraw();
  }

  redraw(): void {
    if (this.frame === 0) {
      this.frame = requestAnimationFrame(() => this.drawNow());
    }
  }

  svg(): string {
    const renderer = new SvgRenderer(this.room.width, this.room.height);
    this.delegate.draw(renderer);
    return renderer.fileText();
  }

  private drawNow(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const { canvas, room } = this,
      context = canvas.getContext("2d", { alpha: false });
    if (context === null) {
      return;
    }
    const begin = performance.now(),
      scale = canvas.width / room.width;
    context.setTransform(scale, 0, 0, canvas.height / room.height, 0, 0);
    this.pixels.begin(canvas.width, canvas.height, scale);
    const renderer = new CanvasRenderer(context, this.pixels);
    this.delegate.draw(renderer);
    renderer.finish();
    canvas.dataset["drawing"] = (performance.now() - begin).toFixed(1);
    // Tests and measurements read here whether all is there, and how long the newest request took until it was drawn.
    if (canvas.dataset["state"] === "asking" && this.delegate.isComplete()) {
      canvas.dataset["state"] = "drawn";
      canvas.dataset["step"] = (performance.now() - this.requestedAt).toFixed(1);
      canvas.dataset["steps"] = String(++this.steps);
    }
  }
}
