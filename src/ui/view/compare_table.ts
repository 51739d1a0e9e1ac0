// What stands beside each other in two timelines, for who does not look.

import { RowKind } from "../client/timeline";
import { callsOf, spansOf, type PairLanes } from "../model/lane_pairs";
import { amountText, changeText } from "../model/words";
import { harmless, table } from "./elements";

const ROWS_MAX = 300; // of those that are not folded away

const COLUMNS = ["row", "what", "first", "second", "was there", "→", "change", "events", "→", "change"];

export function pairsTable(lanes: PairLanes): HTMLElement {
  const label = (row: number | null, side: 0 | 1): string =>
    row === null ? "–" : harmless(lanes.all[side].rows.label[row] ?? "");
  const rows = lanes.lanes.slice(0, ROWS_MAX).flatMap(({ pair: index }) => {
    const pair = lanes.pairs[index];
    if (pair === undefined) {
      return [];
    }
    const [span, spanThere] = spansOf(lanes.all, pair),
      [calls, callsThere] = callsOf(lanes.all, pair);
    return [
      [
        harmless(pair.words),
        RowKind[pair.kind] ?? "",
        label(pair.rows[0], 0),
        label(pair.rows[1], 1),
        amountText("span_ns", span),
        amountText("span_ns", spanThere),
        changeText(span, spanThere),
        amountText("calls", calls),
        amountText("calls", callsThere),
        changeText(calls, callsThere),
      ],
    ];
  });
  return table(
    COLUMNS.map((name, index) => ({ name, kind: index < 4 ? "text" : "number" })),
    rows,
    "Timelines of both",
  );
}
