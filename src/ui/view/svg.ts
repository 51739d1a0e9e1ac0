// Elements of a picture in SVG; like those of the page they take what a trace says as text.

import { harmless } from "./elements";

const NAMESPACE = "http://www.w3.org/2000/svg";

export function svg<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Record<string, string | number>,
  ...children: (Node | string)[]
): SVGElementTagNameMap[Name] {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) {
    made.setAttribute(key, String(value));
  }
  made.append(...children.map((child) => (typeof child === "string" ? harmless(child) : child)));
  return made;
}

const WORDS = "data-words"; // what a datum says

// Titles of what lies in a picture become an attribute: the browser would show them in a box that nobody can copy from. Those that had one, in their order.
export function takeTitles(picture: SVGSVGElement): SVGElement[] {
  return [...picture.querySelectorAll("title")].flatMap((title) => {
    const datum = title.parentElement as SVGElement | null;
    title.remove();
    datum?.setAttribute(WORDS, harmless(title.textContent ?? ""));
    return datum === null ? [] : [datum];
  });
}

// The other way round, for a file.
export function giveTitles(picture: SVGSVGElement): void {
  for (const datum of picture.querySelectorAll(`[${WORDS}]`)) {
    datum.prepend(svg("title", {}, datum.getAttribute(WORDS) ?? ""));
    datum.removeAttribute(WORDS);
  }
}

export const wordsOf = (datum: Element): string => datum.getAttribute(WORDS) ?? "";

// What has words and lies there, or a few pixels beside it: the topmost.
export function datumAt(picture: SVGSVGElement, x: number, y: number): SVGElement | null {
  const NEAR = 3;
  for (const [dx, dy] of [
    [0, 0],
    [NEAR, 0],
    [-NEAR, 0],
    [0, NEAR],
    [0, -NEAR],
  ] as const) {
    for (const each of document.elementsFromPoint(x + dx, y + dy)) {
      const datum = each.closest<SVGElement>(`[${WORDS}]`);
      if (datum !== null && picture.contains(datum)) {
        return datum;
      }
    }
  }
  return null;
}
