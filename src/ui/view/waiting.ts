// Long work: how many questions of the view are answered, for how long it has waited, and how to stop.

import { tally } from "../client/client";
import { button, element } from "./elements";

const LOOK_MS = 250;
const SHOWN_AFTER_MS = 1000; // what is answered sooner says nothing

export function waitingBar(stop: () => void): HTMLElement {
  const share = element("progress", { "aria-label": "questions that are answered" }),
    words = element("span");
  const bar = element("div", { id: "waiting", role: "status" }, share, " ", words, " ", button("Stop", stop));
  bar.hidden = true;
  setInterval(() => {
    const waited = performance.now() - tally.since_ms;
    bar.hidden = tally.asked === tally.over || waited < SHOWN_AFTER_MS;
    if (!bar.hidden) {
      const s = `${Math.floor(waited / 1000)} s`;
      if (tally.asked === 1) {
        share.removeAttribute("value"); // how much of one question is done nobody knows
        words.textContent = s;
      } else {
        share.max = tally.asked;
        share.value = tally.over;
        words.textContent = `${tally.over} of ${tally.asked} answered · ${s}`;
      }
    }
  }, LOOK_MS);
  return bar;
}
