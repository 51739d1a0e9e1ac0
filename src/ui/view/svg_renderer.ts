// The renderer for a file: text, for elements of the page would be ten times slower to make where there are 100,000.

import { colour } from "../model/theme";
import { harmless } from "./elements";
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

const escaped = (text: string): string => harmless(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
const round = (number: number): number => Math.round(number * 100) / 100;

type Attributes = Record<string, string | number | undefined>; // undefined: as it is without it

const attributesText = (attributes: Attributes): string =>
  Object.entries(attributes)
    .map(([name, value]) =>
      value === undefined ? "" : ` ${name}="${typeof value === "number" ? round(value) : escaped(value)}"`,
    )
    .join("");

const unless = <T>(value: T, usual: T): T | undefined => (value === usual ? undefined : value);

export class SvgRenderer implements Renderer {
  private readonly parts: string[] = [];
  private clips = 0;

  constructor(
    private readonly width: number,
    private readonly height: number,
  ) {}

  rect(x: number, y: number, width: number, height: number, fill: string): void {
    this.parts.push(
      `<rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" fill="${fill}"/>`,
    );
  }

  hatch(x: number, y: number, width: number, height: number): void {
    this.rect(x, y, width, height, "url(#hatch)");
  }

  line(x0: number, y0: number, x1: number, y1: number, ink: Ink): void {
    this.add("line", { x1: x0, y1: y0, x2: x1, y2: y1 }, ink);
  }

  curve(x0: number, y0: number, x1: number, y1: number, ink: Ink): void {
    this.add("path", { d: curvePath(x0, y0, x1, y1) }, { ...ink, fill: "none" });
    this.parts.push(
      `<path${attributesText({ d: headPath(x1, y1), fill: ink.colour, opacity: unless(ink.alpha, 1) })}/>`,
    );
  }

  disc(x: number, y: number, radius: number, ink: Ink): void {
    this.add("circle", { cx: x, cy: y, r: radius }, ink);
  }

  shape(points: [number, number][], ink: Ink): void {
    this.add("polygon", { points: points.map(([x, y]) => `${round(x)},${round(y)}`).join(" ") }, ink);
  }

  text(
    x: number,
    y: number,
    words: string,
    ink: Ink,
    { size = LETTERS_SIZE, anchor = "start", weight = 400, isMiddle = false, room }: Letters = {},
  ): void {
    const cut = cutText(words, room);
    if (cut !== "") {
      const looks = {
        "dominant-baseline": isMiddle ? "central" : undefined,
        fill: ink.colour,
        "fill-opacity": unless(ink.alpha, 1),
        "font-size": unless(size, LETTERS_SIZE),
        "text-anchor": unless(anchor, "start"),
        "font-weight": unless(weight, 400),
      };
      this.parts.push(`<text${attributesText({ x, y, ...looks })}>${escaped(cut)}</text>`);
    }
  }

  within(x: number, y: number, width: number, height: number, draw: () => void): void {
    const id = `clip${++this.clips}`;
    this.parts.push(
      `<clipPath id="${id}"><rect${attributesText({ x, y, width, height })}/></clipPath><g clip-path="url(#${id})">`,
    );
    draw();
    this.parts.push("</g>");
  }

  fileText(): string {
    const { width, height } = this;
    return (
      `<svg xmlns="http://www.w3.org/2000/svg"${attributesText({ width, height, viewBox: `0 0 ${width} ${height}`, "font-family": FONT, "font-size": LETTERS_SIZE })}>` +
      `<defs><pattern id="hatch" width="${HATCH}" height="${HATCH}" patternUnits="userSpaceOnUse"><path d="M0 ${HATCH}L${HATCH} 0" stroke="${colour("bad")}"/></pattern></defs>` +
      `<rect width="100%" height="100%" fill="${colour("ground")}"/>${this.parts.join("")}</svg>`
    );
  }

  private add(
    name: "line" | "path" | "circle" | "polygon",
    geometry: Attributes,
    { colour: stroke, alpha, width, dash, fill }: Ink,
  ): void {
    const isLine = name === "line";
    this.parts.push(
      `<${name}${attributesText({ ...geometry, fill: isLine ? undefined : (fill ?? "none"), stroke, "stroke-width": unless(width, 1), opacity: unless(alpha, 1), "stroke-dasharray": unless(dash, "") })}/>`,
    );
  }
}
