// One way to draw for the screen and for a file: what is drawn with a CanvasRenderer (pen_canvas.ts) can be drawn with an SvgRenderer (pen_svg.ts), and looks the same.
//
//   function drawLane(renderer: Renderer): void { renderer.rect(0, 20, 300, 1, colour("line")); renderer.text(4, 10, "cat[7]", { colour: colour("text") }, { isMiddle: true }); }
//
// Colours are #rrggbb or #rrggbbaa, or what else CSS has where the renderer has no pixels of its own. Lengths are CSS pixels.

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
  isMiddle?: boolean; // y is where the middle of the letters is, not their foot
  room?: number; // pixels: what does not fit is cut
}

export interface Renderer {
  rect(x: number, y: number, width: number, height: number, fill: string): void; // there are many of them: no Ink is made for each
  hatch(x: number, y: number, width: number, height: number): void;
  line(x0: number, y0: number, x1: number, y1: number, ink: Ink): void;
  curve(x0: number, y0: number, x1: number, y1: number, ink: Ink): void; // with an arrow's head at its end
  disc(x: number, y: number, radius: number, ink: Ink): void;
  shape(points: [number, number][], ink: Ink): void;
  text(x: number, y: number, words: string, ink: Ink, letters?: Letters): void;
  within(x: number, y: number, width: number, height: number, draw: () => void): void; // what lies outside is cut off
}

export const FONT = "system-ui, sans-serif",
  LETTERS_SIZE = 12;
export const HATCH = 6; // pixels from stroke to stroke
const LETTER = 7.2; // pixels of a letter of LETTERS_SIZE, where nobody can measure it

// What a name ends with, [812], tells it from others: it stays as long as a letter before it does. How many threads it has goes first.
export function cutText(words: string, room = Infinity, letter = LETTER): string {
  const most = Math.floor(room / letter);
  if (words.length <= most) {
    return words;
  }
  const [, name = words, number = ""] = /^(.*)(\[\d+\])(?: · [\d,]+ threads)?$/s.exec(words) ?? [],
    begin = most - 1 - number.length;
  if (name.length + number.length <= most) {
    return name + number;
  }
  return most < 3 ? "" : begin < 1 ? `${words.slice(0, most - 1)}…` : `${name.slice(0, begin)}…${number}`;
}

// Leaves to the right and arrives from the left, so that it is seen from where to where it goes.
export function curvePath(x0: number, y0: number, x1: number, y1: number): string {
  const bend = Math.min(Math.max(Math.abs(x1 - x0) / 2, 8), 60);
  return `M${x0} ${y0}C${x0 + bend} ${y0} ${x1 - bend} ${y1} ${x1} ${y1}`;
}

export const headPath = (x: number, y: number): string => `M${x} ${y}l-7 -3.5v7z`;
