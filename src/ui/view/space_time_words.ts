// What space-time says in words: what was chosen, the messages as a table, what is left out.

import type { Column } from "../generated/api";
import { address, go } from "../model/place";
import type { Flow, Move, SpaceTime } from "../model/space_time";
import { bytesText, momentText } from "../model/words";
import { type Child, element, harmless, lacking, note, section, short, table } from "./elements";
import { eventsAddress } from "./rows";
import { type Chosen, LANES, TIMES, likeOf, wordOf } from "./space_time_asked";
import type { Datum } from "./space_time_drawing";
import { trailAddress } from "./trail";
import type { Scene } from "./view";

const ROWS_MAX = 200; // of the table of messages

export function momentWords(scene: Scene, move: Move): string {
  return wordOf(scene, "time", TIMES) === "order" ? `order ${move.x.toLocaleString("en")}` : momentText(move.x, 1000);
}

export const moveWords = (scene: Scene, move: Move): string =>
  `${momentWords(scene, move)} · ${move.process} ${move.name} ${short(move.target, 60)} · ${bytesText(move.bytes)}`;

export function datumWords(scene: Scene, data: SpaceTime, { move, flow }: Datum): string {
  const from = data.moves[move],
    to = flow === null ? undefined : data.moves[flow.to];
  return from === undefined
    ? ""
    : harmless(
        flow === null || to === undefined
          ? moveWords(scene, from)
          : `${moveWords(scene, from)} → ${to.process} ${to.name} · ${bytesText(flow.bytes)} of it, ${flow.certainty} (${flow.rule})`,
      );
}

export const pick = (data: SpaceTime, datum: Datum | null): void =>
  go({
    event: datum === null ? null : (data.moves[datum.move]?.id ?? null),
    message: datum?.flow == null ? null : (data.moves[datum.flow.to]?.id ?? null),
  });

// What was clicked, in words that can be copied, and where its trail is told in full.
export function details(scene: Scene, data: SpaceTime, chosen: Chosen, groups: Map<string, string>): HTMLElement {
  const move = data.moves[chosen.index] as Move,
    { forward, back } = chosen.walked;
  const leader = move.fingerprint === null ? null : (groups.get(move.fingerprint) ?? move.fingerprint);
  const same =
    leader === null
      ? 0
      : data.moves.filter(
          ({ fingerprint }) => fingerprint !== null && (groups.get(fingerprint) ?? fingerprint) === leader,
        ).length;
  const content =
    move.fingerprint === null
      ? "content not recorded"
      : `${same.toLocaleString("en")} ${same === 1 ? "call" : "calls"} here with ${likeOf(scene) < 100 ? "such" : "this"} content`;
  const from = `event:${move.id}`;
  return section(
    "Chosen",
    element(
      "p",
      { class: "summary", id: "chosen" },
      datumWords(scene, data, { move: chosen.index, flow: chosen.flow }),
    ),
    element(
      "p",
      { class: "faint" },
      `its bytes: ${(forward.size - 1).toLocaleString("en")} calls later, ${(back.size - 1).toLocaleString("en")} before, of those shown · ${content}${move.dyes > 0 ? ` · ${move.dyes} ${move.dyes === 1 ? "dye" : "dyes"} met` : ""}`,
    ),
    element(
      "p",
      { class: "row" },
      element("a", { href: trailAddress(from) }, "trail: where it went"),
      element("a", { href: trailAddress(from, "back") }, "trail: where it came from"),
      element("a", { href: eventsAddress(`event_id = ${move.id}`) }, "this event"),
      ...(move.fingerprint === null
        ? []
        : [element("a", { href: eventsAddress(`fingerprint = ${move.fingerprint}`) }, "all with this content")]),
      element(
        "a",
        { href: address("space-time", { ...Object.fromEntries(scene.place.parameters), event: null, message: null }) },
        "all trails (Escape)",
      ),
    ),
  );
}

export const COLUMNS: Column[] = [
  ["when", "text"],
  ["from", "text"],
  ["to", "text"],
  ["over", "text"],
  ["bytes", "number"],
  ["known by", "text"],
  ["certainty", "text"],
].map(([name, kind]) => ({ name, kind }) as Column);

export function messages(scene: Scene, data: SpaceTime, chosen: Chosen | null): HTMLElement {
  const lines = data.lines
    .filter((flow) => chosen === null || chosen.walked.flows.has(flow))
    .sort((a, b) => a.from - b.from || a.to - b.to);
  const lane = (index: number): string => data.lanes[data.moves[index]?.lane ?? 0]?.name ?? "";
  const rows = lines.slice(0, ROWS_MAX).map((flow) => {
    const move = data.moves[flow.from] as Move;
    return Object.assign(
      [momentWords(scene, move), lane(flow.from), lane(flow.to), move.target, flow.bytes, flow.rule, flow.certainty],
      { flow },
    );
  });
  const title = `Messages${chosen === null ? "" : " of this trail"}: ${lines.length.toLocaleString("en")}${lines.length > ROWS_MAX ? `, the first ${ROWS_MAX}` : ""}`;
  return section(
    title,
    table(COLUMNS, rows, "Messages", {
      when: (value, row) => {
        const { flow } = row as unknown as { flow: Flow };
        return element(
          "a",
          { href: trailAddress(`event:${data.moves[flow.from]?.id ?? ""}`), title: "its trail" },
          String(value),
        );
      },
      over: (value) => short(harmless(String(value)), 50),
    }),
  );
}

// What is not shown, and what to do.
export function remarks(scene: Scene, data: SpaceTime): Child[] {
  const count = (value: number): string => value.toLocaleString("en");
  const cut = [
    ...(data.lanesInAll > data.lanes.length
      ? [`the ${count(data.lanes.length)} busiest of ${count(data.lanesInAll)} lanes`]
      : []),
    ...(data.movesInAll > data.moves.length ? [`${count(data.moves.length)} of ${count(data.movesInAll)} calls`] : []),
    ...(data.linesInAll > data.lines.length
      ? [`${count(data.lines.length)} of ${count(data.linesInAll)} messages`]
      : []),
  ];
  const hasContent = data.moves.some(({ fingerprint }) => fingerprint !== null);
  return [
    ...(cut.length === 0
      ? []
      : [
          element(
            "p",
            { class: "faint", id: "cut" },
            `Shown are ${cut.join(", ")}: zoom in, choose a stretch of time (shift and drag), or filter, to see all of what is left.`,
          ),
        ]),
    ...(data.lines.length === 0
      ? [note(`No bytes are known to have gone from one ${wordOf(scene, "lane", LANES)} to another one here.`)]
      : []),
    ...(hasContent
      ? []
      : [
          lacking(
            "Nobody saw what the bytes were, so all messages have one colour. For the colours record with",
            "dyetrace record --content=anchors …",
          ),
        ]),
  ];
}
