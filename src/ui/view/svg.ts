// Elements of a picture in SVG; like those of the page they take what a trace says as text.

import { harmless } from "./elements";

const NAMESPACE = "http://www.w3.org/2000/svg";

export function svg<Name extends keyof SVGElementTagNameMap>(name: Name, attributes: Record<string, string | number>, ...children: (Node | string)[]): SVGElementTagNameMap[Name] {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) {
    made.setAttribute(key, String(value));
  }
  made.append(...children.map((child) => (typeof child === "string" ? harmless(child) : child)));
  return made;
}
