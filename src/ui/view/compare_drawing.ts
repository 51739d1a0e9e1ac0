// Timelines of two traces as one picture: a lane for what is the same in both, its upper half the first trace, its lower half the second.
//
//   git                │1▏▂▅██▂          │
//   56 ms → 180 ms ×3.2│2▏▂▅████████▅▂   │

import { RowKind } from "../client/timeline";
import { HALF, spansOf, type PairLanes, type Two } from "../model/lane_pairs";
import { colour } from "../model/theme";
import { changeText, durationText } from "../model/words";
import { harmless } from "./elements";
import type { Letters, Renderer } from "./renderer";
import { AXIS, drawAxis, drawGround, drawRuns, drawWords, LABELS, type Drawing } from "./timeline_drawing";

const MIDDLE: Letters = { isMiddle: true };
const MARK = 16; // pixels, of the number of a half
export const SIDE_NAMES: Two<string> = ["first", "second"];
export const SIDE_COLOURS: Two<string> = ["file", "network"]; // as in the chart of latencies

export function drawPair(renderer: Renderer, sides: Two<Drawing>, lanes: PairLanes): void {
  const [first] = sides;
  drawGround(renderer, first);
  sides.forEach((side) => drawRuns(renderer, side));
  sides.forEach((side) => drawWords(renderer, side));
  drawLabels(renderer, first, lanes);
  drawAxis(renderer, first);
}

function drawLabels(renderer: Renderer, { top, width, height }: Drawing, lanes: PairLanes): void {
  renderer.rect(0, AXIS, LABELS, height, colour("ground"));
  for (const lane of lanes.between(top, top + height - AXIS)) {
    const pair = lanes.pairs[lane.pair],
      y = AXIS + lane.top - top;
    if (pair === undefined) {
      continue;
    }
    const x = 22 + pair.kind * 14,
      left = Math.min(x, 36);
    if (lane.isOpen !== null) {
      renderer.text(x - 16, y + HALF / 2, lane.isOpen ? "▾" : "▸", { colour: colour("text") }, MIDDLE);
    }
    renderer.text(
      x,
      y + HALF / 2,
      harmless(pair.words),
      { colour: colour(pair.kind === RowKind.thread ? "faint" : "text") },
      { ...MIDDLE, room: LABELS - x - MARK - 6 },
    );
    renderer.text(
      left,
      y + HALF * 1.5,
      differenceText(lanes, lane.pair),
      { colour: colour("faint") },
      { ...MIDDLE, room: LABELS - left - MARK - 6 },
    );
    pair.rows.forEach((row, side) => {
      const middle = y + (side + 0.5) * HALF;
      renderer.rect(LABELS - 4, y + side * HALF, 3, HALF - 1, colour(SIDE_COLOURS[side] ?? ""));
      renderer.text(
        LABELS - 8,
        middle,
        String(side + 1),
        { colour: colour(row === null ? "line" : "faint") },
        { ...MIDDLE, anchor: "end" },
      );
      if (row === null) {
        renderer.text(LABELS + 6, middle, `not in the ${SIDE_NAMES[side] ?? ""}`, { colour: colour("faint") }, MIDDLE);
      }
    });
    renderer.rect(0, y + lane.height - 1, width, 1, colour("faint") + "99");
  }
  renderer.rect(LABELS - 1, 0, 1, height, colour("line"));
}

// How long it was there, in the first and in the second.
export function differenceText(lanes: PairLanes, index: number): string {
  const pair = lanes.pairs[index];
  if (pair === undefined) {
    return "";
  }
  const [here, there] = spansOf(lanes.all, pair);
  if (pair.rows[0] === null || pair.rows[1] === null) {
    return `${durationText(here + there)}, ${pair.rows[0] === null ? "new" : "gone"}`;
  }
  return `${durationText(here)} → ${durationText(there)} ${changeText(here, there)}`;
}
