// One way to draw for the screen and for a file: what is drawn with a CanvasPen can be drawn with an SvgPen.

import { svg } from "./svg";

export interface Ink {
  colour: string;
  alpha?: number;
  width?: number;
  dash?: string; // as SVG has it: "7 4"
  fill?: string; // of a disc or a shape; none: only its edge
}

export interface Letters {
  size?: number;
  anchor?: "start" | "middle" | "end";
  weight?: number;
}

export interface Pen {
  line(x1: number, y1: number, x2: number, y2: number, ink: Ink): void;
  disc(x: number, y: number, radius: number, ink: Ink): void;
  shape(points: [number, number][], ink: Ink): void;
  text(x: number, y: number, words: string, ink: Ink, letters?: Letters): void;
  within(x: number, y: number, width: number, height: number, draw: () => void): void; // what lies outside is cut off
}

const FONT = "system-ui, sans-serif";

export class CanvasPen implements Pen {
  constructor(private readonly context: CanvasRenderingContext2D) {}

  line(x1: number, y1: number, x2: number, y2: number, ink: Ink): void {
    const { context } = this;
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    this.stroke(ink);
  }
  disc(x: number, y: number, radius: number, ink: Ink): void {
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 2 * Math.PI);
    this.fillAndStroke(ink);
  }
  shape(points: [number, number][], ink: Ink): void {
    this.context.beginPath();
    points.forEach(([x, y]) => this.context.lineTo(x, y));
    this.context.closePath();
    this.fillAndStroke(ink);
  }
  text(x: number, y: number, words: string, ink: Ink, { size = 12, anchor = "start", weight = 400 }: Letters = {}): void {
    const { context } = this;
    context.globalAlpha = ink.alpha ?? 1;
    context.fillStyle = ink.colour;
    context.font = `${weight} ${size}px ${FONT}`;
    context.textAlign = anchor === "middle" ? "center" : anchor;
    context.fillText(words, x, y);
  }
  within(x: number, y: number, width: number, height: number, draw: () => void): void {
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, y, width, height);
    this.context.clip();
    draw();
    this.context.restore();
  }
  private fillAndStroke(ink: Ink): void {
    if (ink.fill !== undefined) {
      this.context.globalAlpha = ink.alpha ?? 1;
      this.context.fillStyle = ink.fill;
      this.context.fill();
    }
    this.stroke(ink);
  }
  private stroke({ colour, alpha = 1, width = 1, dash = "" }: Ink): void {
    const { context } = this;
    context.globalAlpha = alpha;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dash === "" ? [] : dash.split(" ").map(Number));
    context.stroke();
  }
}

export class SvgPen implements Pen {
  readonly root: SVGSVGElement;
  private into: SVGElement;
  private clips = 0;

  constructor(width: number, height: number, ground: string) {
    this.root = svg("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}`, "font-family": FONT }, svg("rect", { width, height, fill: ground }));
    this.into = this.root;
  }

  // The file's text.
  fileText(): string {
    return new XMLSerializer().serializeToString(this.root);
  }
  line(x1: number, y1: number, x2: number, y2: number, ink: Ink): void {
    this.add("line", { x1: round(x1), y1: round(y1), x2: round(x2), y2: round(y2) }, ink);
  }
  disc(x: number, y: number, radius: number, ink: Ink): void {
    this.add("circle", { cx: round(x), cy: round(y), r: radius }, ink);
  }
  shape(points: [number, number][], ink: Ink): void {
    this.add("polygon", { points: points.map(([x, y]) => `${round(x)},${round(y)}`).join(" ") }, ink);
  }
  text(x: number, y: number, words: string, ink: Ink, { size = 12, anchor = "start", weight = 400 }: Letters = {}): void {
    this.into.append(svg("text", { x: round(x), y: round(y), fill: ink.colour, "fill-opacity": ink.alpha ?? 1, "font-size": size, "text-anchor": anchor, "font-weight": weight }, words));
  }
  within(x: number, y: number, width: number, height: number, draw: () => void): void {
    const id = `clip${++this.clips}`, outer = this.into;
    this.into = svg("g", { "clip-path": `url(#${id})` });
    outer.append(svg("clipPath", { id }, svg("rect", { x, y, width, height })), this.into);
    draw();
    this.into = outer;
  }
  private add(name: "line" | "circle" | "polygon", attributes: Record<string, string | number>, { colour, alpha = 1, width = 1, dash = "", fill = "none" }: Ink): void {
    this.into.append(svg(name, { ...attributes, fill, stroke: colour, "stroke-width": width, ...(alpha < 1 ? { opacity: alpha } : {}), ...(dash === "" ? {} : { "stroke-dasharray": dash }) }));
  }
}

const round = (value: number): number => Math.round(value * 10) / 10;
