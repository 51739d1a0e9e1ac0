// What is drawn, on a canvas or as SVG: one drawing, two pens.

import { colour } from "../model/theme";

export interface Pen {
  rect(x: number, y: number, width: number, height: number, fill: string): void;
  line(x0: number, y0: number, x1: number, y1: number, stroke: string, width?: number): void;
  curve(x0: number, y0: number, x1: number, y1: number, stroke: string, width: number): void; // with an arrow's head at its end
  text(x: number, y: number, words: string, fill: string, width?: number): void; // y is its middle; cut to the width
  hatch(x: number, y: number, width: number, height: number): void;
}

export const FONT = "12px system-ui, sans-serif";
const LETTER = 6.2; // pixels of a letter of that, on average
const HATCH = 6;

export const cutText = (words: string, width: number): string => {
  const most = Math.floor(width / LETTER);
  return words.length <= most ? words : most < 3 ? "" : `${words.slice(0, most - 1)}…`;
};

export class CanvasPen implements Pen {
  private fill = "";
  private readonly pattern: CanvasPattern | null;

  constructor(private readonly canvas: CanvasRenderingContext2D) {
    canvas.font = FONT;
    canvas.textBaseline = "middle";
    this.pattern = hatchPattern(canvas);
  }

  rect(x: number, y: number, width: number, height: number, fill: string): void {
    if (fill !== this.fill) {
      this.canvas.fillStyle = this.fill = fill;
    }
    this.canvas.fillRect(x, y, width, height);
  }

  line(x0: number, y0: number, x1: number, y1: number, stroke: string, width = 1): void {
    this.canvas.strokeStyle = stroke;
    this.canvas.lineWidth = width;
    this.canvas.beginPath();
    this.canvas.moveTo(x0, y0);
    this.canvas.lineTo(x1, y1);
    this.canvas.stroke();
  }

  curve(x0: number, y0: number, x1: number, y1: number, stroke: string, width: number): void {
    this.canvas.strokeStyle = stroke;
    this.canvas.lineWidth = width;
    this.canvas.stroke(new Path2D(curvePath(x0, y0, x1, y1)));
    this.canvas.fillStyle = this.fill = stroke;
    this.canvas.fill(new Path2D(headPath(x0, y0, x1, y1)));
  }

  text(x: number, y: number, words: string, fill: string, width = Infinity): void {
    const cut = cutText(words, width);
    if (cut !== "") {
      this.canvas.fillStyle = this.fill = fill;
      this.canvas.fillText(cut, x, y);
    }
  }

  hatch(x: number, y: number, width: number, height: number): void {
    if (this.pattern !== null) {
      this.canvas.fillStyle = this.pattern;
      this.fill = "";
      this.canvas.fillRect(x, y, width, height);
    }
  }
}

function hatchPattern(canvas: CanvasRenderingContext2D): CanvasPattern | null {
  const tile = document.createElement("canvas");
  tile.width = tile.height = HATCH;
  const pen = tile.getContext("2d");
  if (pen === null) {
    return null;
  }
  pen.strokeStyle = colour("bad");
  pen.beginPath();
  pen.moveTo(-1, 1);
  pen.lineTo(1, -1);
  pen.moveTo(0, HATCH);
  pen.lineTo(HATCH, 0);
  pen.moveTo(HATCH - 1, HATCH + 1);
  pen.lineTo(HATCH + 1, HATCH - 1);
  pen.stroke();
  return canvas.createPattern(tile, "repeat");
}

// Leaves to the right and arrives from the left, so that it is seen from where to where it goes.
export function curvePath(x0: number, y0: number, x1: number, y1: number): string {
  const bend = Math.min(Math.max(Math.abs(x1 - x0) / 2, 8), 60);
  return `M${x0} ${y0}C${x0 + bend} ${y0} ${x1 - bend} ${y1} ${x1} ${y1}`;
}

function headPath(_x0: number, _y0: number, x1: number, y1: number): string {
  return `M${x1} ${y1}l-7 -3.5v7z`;
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

export class SvgPen implements Pen {
  private readonly parts: string[] = [];

  constructor(private readonly width: number, private readonly height: number) {}

  rect(x: number, y: number, width: number, height: number, fill: string): void {
    this.parts.push(`<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="${fill}"/>`);
  }

  line(x0: number, y0: number, x1: number, y1: number, stroke: string, width = 1): void {
    this.parts.push(`<line x1="${short(x0)}" y1="${short(y0)}" x2="${short(x1)}" y2="${short(y1)}" stroke="${stroke}" stroke-width="${width}"/>`);
  }

  curve(x0: number, y0: number, x1: number, y1: number, stroke: string, width: number): void {
    this.parts.push(`<path d="${curvePath(x0, y0, x1, y1)}" fill="none" stroke="${stroke}" stroke-width="${width}"/><path d="${headPath(x0, y0, x1, y1)}" fill="${stroke}"/>`);
  }

  text(x: number, y: number, words: string, fill: string, width = Infinity): void {
    const cut = cutText(words, width);
    if (cut !== "") {
      this.parts.push(`<text x="${short(x)}" y="${short(y)}" dominant-baseline="central" fill="${fill}">${escaped(cut)}</text>`);
    }
  }

  hatch(x: number, y: number, width: number, height: number): void {
    this.rect(x, y, width, height, "url(#hatch)");
  }

  document(): string {
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" font-family="system-ui, sans-serif" font-size="12">` +
      `<defs><pattern id="hatch" width="${HATCH}" height="${HATCH}" patternUnits="userSpaceOnUse"><path d="M0 ${HATCH}L${HATCH} 0" stroke="${colour("bad")}"/></pattern></defs>` +
      `<rect width="100%" height="100%" fill="${colour("ground")}"/>${this.parts.join("")}</svg>`
    );
  }
}

const short = (number: number): number => Math.round(number * 100) / 100;
