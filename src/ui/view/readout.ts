// What a datum of a picture says, as a line of text below the picture that can be selected and copied. One way for all pictures made of SVG:
//
//   framed("rates", picture)        picture: its data have titles, as Plot and svg() make them
//
//   ┌──────────────┐   pointer over a datum: its words     click: they stay, until Escape or a click elsewhere
//   │   ▂▅█▃▁      │   arrow keys: the next datum from left to right, whose words stay
//   └──────────────┘
//   +0.12 s · file: 312/s                     SVG PNG
//
// What is reached with Tab in a picture of its own (the trail's boxes) has no arrow keys here.

import { element } from "./elements";
import { saveButtons, svgText } from "./save";
import { datumAt, takeTitles, wordsOf } from "./svg";

const HINT = "point, or use arrow keys, to read; a click keeps the words";
const STEPS: Record<string, number> = {
  ArrowRight: 1,
  ArrowDown: 1,
  ArrowLeft: -1,
  ArrowUp: -1,
  PageDown: 20,
  PageUp: -20,
  Home: -Infinity,
  End: Infinity,
};

class Readout {
  // Selecting its text takes the focus, so that a recording does not draw the chart anew meanwhile.
  readonly line = element("p", { class: "faint readout", "aria-live": "polite", tabindex: "-1" }, HINT);
  private shown: SVGElement | null = null;
  private isKept = false;
  private isSorted = false;

  constructor(
    picture: SVGSVGElement,
    private readonly data: SVGElement[],
  ) {
    picture.addEventListener("pointermove", ({ clientX, clientY, buttons }) => {
      if (!this.isKept && buttons === 0) {
        this.show(datumAt(picture, clientX, clientY));
      }
    });
    picture.addEventListener("pointerleave", () => {
      if (!this.isKept) {
        this.show(null);
      }
    });
    picture.addEventListener("click", ({ clientX, clientY }) => this.keep(datumAt(picture, clientX, clientY)));
    if (picture.querySelector("[tabindex]") === null) {
      picture.setAttribute("tabindex", "0");
      picture.setAttribute("role", "application"); // or a screen reader keeps the arrow keys to itself
      picture.addEventListener("keydown", (event) => this.onKey(event));
    }
  }

  private show(datum: SVGElement | null): void {
    if (datum !== this.shown) {
      this.shown?.classList.remove("read");
      datum?.classList.add("read");
      this.shown = datum;
      this.line.textContent = datum === null ? HINT : wordsOf(datum);
    }
  }

  private keep(datum: SVGElement | null): void {
    this.show(datum);
    this.isKept = datum !== null;
    this.line.classList.toggle("kept", this.isKept);
  }

  private onKey(event: KeyboardEvent): void {
    const step = STEPS[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey || (step === undefined && event.key !== "Escape")) {
      return;
    }
    event.preventDefault();
    this.keep(step === undefined ? null : this.next(step));
  }

  private next(step: number): SVGElement | null {
    if (!this.isSorted) {
      const places = new Map(this.data.map((datum) => [datum, datum.getBoundingClientRect()]));
      const place = (datum: SVGElement): DOMRect => places.get(datum) ?? new DOMRect();
      this.data.sort((a, b) => place(a).x - place(b).x || place(a).y - place(b).y);
      this.isSorted = true;
    }
    const at = this.shown === null ? (step > 0 ? -1 : this.data.length) : this.data.indexOf(this.shown);
    return this.data[Math.min(Math.max(at + step, 0), this.data.length - 1)] ?? null;
  }
}

// A picture in the page, with what its data say, and buttons that save it as a file. `room` is the class of what holds the picture.
export function framed(name: string, picture: SVGSVGElement, room = "chart"): HTMLElement {
  const data = takeTitles(picture);
  const said = data.length === 0 ? [] : [new Readout(picture, data).line];
  const holder = element(
    "div",
    { class: room, ...(room === "scroll" ? { tabindex: "0", role: "region", "aria-label": name } : {}) },
    picture,
  );
  return element(
    "figure",
    {},
    holder,
    element(
      "figcaption",
      {},
      ...said,
      saveButtons(name, () => svgText(picture)),
    ),
  );
}
