// Charts over time, drawn by Observable Plot as SVG, with one way to choose a stretch of time in all of them.

import * as Plot from "@observablehq/plot";
import { go } from "../model/place";
import { colour } from "../model/theme";
import { momentText } from "../model/words";
import { framed } from "./readout";
import { svg } from "./svg";

const HEIGHT_MIN = 220,
  HEIGHT_MAX = 420;
const MARGINS = 62; // of the view and the panel
const PANEL_MIN = 560,
  PANEL_SHARE = 0.24,
  GAP = 12; // as page.css has them

// How wide a chart across the view is drawn: letters are as large on a wide screen as on a small one.
export const viewWidth = (): number => Math.max((document.getElementById("view")?.clientWidth ?? 1000) - MARGINS, 480);

// How wide a chart is drawn in a panel that is not across the view.
export function panelWidth(): number {
  const all = viewWidth() + MARGINS / 2,
    columns = Math.max(Math.floor((all + GAP) / (Math.max(PANEL_MIN, all * PANEL_SHARE) + GAP)), 1);
  return Math.max(Math.floor((all + GAP) / columns - GAP - MARGINS / 2), 400);
}
const viewHeight = (): number => Math.min(Math.max(Math.round(window.innerHeight * 0.22), HEIGHT_MIN), HEIGHT_MAX);

export interface ChartWords {
  name: string; // of the file that it is saved as
  title: string; // what a screen reader says
}

// A chart with what its data say and its buttons. Its own style sheet would be one for the whole page.
export function figure(words: ChartWords, options: Plot.PlotOptions): HTMLElement {
  const drawn = Plot.plot({
    style: { color: colour("text"), background: "transparent", fontSize: "12px" },
    width: viewWidth(),
    height: viewHeight(),
    marginLeft: 76,
    marginBottom: 40,
    ...options,
    figure: false,
    ariaLabel: words.title,
  }) as SVGSVGElement;
  drawn.querySelector("style")?.remove();
  drawn.setAttribute("role", "img");
  drawn.setAttribute("data-chart", words.name);
  return framed(words.name, drawn);
}

// Labels have as many digits as tell the ticks apart.
export const timeAxis = (): Plot.AxisXOptions => ({
  label: "time from the begin",
  labelOffset: 34,
  tickSpacing: 110, // pixels; +0.0855 s has 60
  tickFormat: ((ns: number, _: number, ticks: number[]) =>
    momentText(ns, (ticks[1] ?? ns + 1e6) - (ticks[0] ?? ns))) as (ns: number, index: number) => string,
});

// Drag across a chart whose x is nanoseconds: that stretch is selected, in all views.
export function brushed(chart: HTMLElement): HTMLElement {
  const picture = chart.querySelector("svg") as (SVGSVGElement & { scale?: unknown }) | null;
  const scale = (picture as unknown as Plot.Plot | null)?.scale("x");
  if (picture === null || scale?.invert === undefined) {
    return chart;
  }
  const invert = scale.invert.bind(scale) as (x: number) => number;
  let begin: number | null = null;
  let box: SVGRectElement | null = null;
  const xOf = (event: PointerEvent): number => {
    const area = picture.getBoundingClientRect();
    return ((event.clientX - area.left) / area.width) * picture.viewBox.baseVal.width;
  };
  picture.classList.add("brushed");
  picture.addEventListener("pointerdown", (event) => {
    begin = xOf(event);
    picture.setPointerCapture(event.pointerId);
    box = svg("rect", { class: "brush", y: 0, height: "100%" });
    picture.append(box);
  });
  picture.addEventListener("pointermove", (event) => {
    if (begin !== null && box !== null) {
      const x = xOf(event);
      box.setAttribute("x", String(Math.min(x, begin)));
      box.setAttribute("width", String(Math.abs(x - begin)));
    }
  });
  const letGo = (): void => {
    box?.remove();
    begin = null;
  };
  picture.addEventListener("pointerup", (event) => {
    const end = xOf(event);
    if (begin !== null && Math.abs(end - begin) > 3) {
      const [from, to] = [invert(Math.min(begin, end)), invert(Math.max(begin, end))];
      go({ from: String(Math.round(from)), to: String(Math.round(to)) });
    }
    letGo();
  });
  picture.addEventListener("pointercancel", letGo);
  return chart;
}
