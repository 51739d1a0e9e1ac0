// The renderer for the screen. With pixels of its own it paints the rectangles that come before anything else there; then all of the canvas is its own.

import { colour } from "../model/theme";
import type { Pixels } from "./pixels";
import {
  curvePath,
  cutText,
  FONT,
  HATCH,
  headPath,
  LETTERS_SIZE,
  type Ink,
  type Letters,
  type Renderer,
} from "./renderer";

const LETTER_MIN = 5.5,
  LETTER_MAX = 12; // pixels, on average

// What the context was told last is not told again: a picture has 100,000 rectangles, of few colours.
export class CanvasRenderer implements Renderer {
  private fillStyle = "";
  private font = "";
  private alpha = -1;

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private pixels: Pixels | null = null,
  ) {}

  // Nothing more is drawn.
  finish(): void {
    this.pixels?.put(this.context);
    this.pixels = null;
  }

  rect(x: number, y: number, width: number, height: number, fill: string): void {
    if (this.pixels !== null) {
      this.pixels.rect(x, y, width, height, fill);
    } else {
      this.setFill(fill);
      this.context.fillRect(x, y, width, height);
    }
  }

  hatch(x: number, y: number, width: number, height: number): void {
    this.finish();
    const pattern = hatchPattern(this.context);
    if (pattern !== null) {
      this.setFill("");
      this.context.fillStyle = pattern;
      this.context.fillRect(x, y, width, height);
    }
  }

  line(x0: number, y0: number, x1: number, y1: number, ink: Ink): void {
    const { context } = this;
    context.beginPath();
    context.moveTo(x0, y0);
    context.lineTo(x1, y1);
    this.stroke(ink);
  }

  curve(x0: number, y0: number, x1: number, y1: number, ink: Ink): void {
    this.stroke(ink, new Path2D(curvePath(x0, y0, x1, y1)));
    this.setFill(ink.colour, ink.alpha);
    this.context.fill(new Path2D(headPath(x1, y1)));
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

  text(
    x: number,
    y: number,
    words: string,
    ink: Ink,
    { size = LETTERS_SIZE, anchor = "start", weight = 400, isMiddle = false, room }: Letters = {},
  ): void {
    const { context } = this,
      font = `${weight} ${size}px ${FONT}`;
    this.setFill(ink.colour, ink.alpha);
    if (font !== this.font) {
      context.font = this.font = font;
    }
    context.textAlign = anchor === "middle" ? "center" : anchor;
    context.textBaseline = isMiddle ? "middle" : "alphabetic";
    context.fillText(this.fitting(words, room), x, y);
  }

  // As much of it as fits, by how wide its own letters are.
  private fitting(words: string, room = Infinity): string {
    let cut = words;
    for (
      let letter = LETTER_MIN;
      cut.length * LETTER_MAX > room && letter < LETTER_MAX && this.context.measureText(cut).width > room;
      letter += 0.5
    ) {
      cut = cutText(words, room, letter);
    }
    return cut;
  }

  within(x: number, y: number, width: number, height: number, draw: () => void): void {
    this.finish();
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, y, width, height);
    this.context.clip();
    draw();
    this.context.restore();
    this.fillStyle = this.font = "";
    this.alpha = -1;
  }

  private setFill(fill: string, alpha = 1): void {
    this.finish();
    if (fill !== this.fillStyle) {
      this.fillStyle = fill;
      this.context.fillStyle = fill;
    }
    this.setAlpha(alpha);
  }

  private setAlpha(alpha: number): void {
    this.finish();
    if (alpha !== this.alpha) {
      this.context.globalAlpha = this.alpha = alpha;
    }
  }

  private fillAndStroke(ink: Ink): void {
    if (ink.fill !== undefined) {
      this.setFill(ink.fill, ink.alpha);
      this.context.fill();
    }
    this.stroke(ink);
  }

  private stroke({ colour: stroke, alpha = 1, width = 1, dash = "" }: Ink, path?: Path2D): void {
    const { context } = this;
    this.setAlpha(alpha);
    context.strokeStyle = stroke;
    context.lineWidth = width;
    context.setLineDash(dash === "" ? [] : dash.split(" ").map(Number));
    if (path === undefined) {
      context.stroke();
    } else {
      context.stroke(path);
    }
  }
}

let pattern: { of: string; made: CanvasPattern | null } | null = null; // of this theme's colour

function hatchPattern(context: CanvasRenderingContext2D): CanvasPattern | null {
  const ink = colour("bad");
  if (pattern?.of !== ink) {
    pattern = { of: ink, made: context.createPattern(hatchTile(ink), "repeat") };
  }
  return pattern.made;
}

function hatchTile(ink: string): HTMLCanvasElement {
  const tile = document.createElement("canvas");
  tile.width = tile.height = HATCH;
  const renderer = tile.getContext("2d");
  if (renderer !== null) {
    renderer.strokeStyle = ink;
    renderer.beginPath();
    for (const [x, y] of [
      [-1, 1],
      [0, HATCH],
      [HATCH - 1, HATCH + 1],
    ] as const) {
      // the corners are of the neighbours' strokes
      renderer.moveTo(x, y);
      renderer.lineTo(y, x);
    }
    renderer.stroke();
  }
  return tile;
}
