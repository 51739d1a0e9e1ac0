// What space-time is asked for, as the address says it, and the last answers.

import { type Pair, askPairs, groupsOf } from "../model/likeness";
import { selection } from "../model/place";
import {
  type Asked,
  type Flow,
  type LaneKind,
  type Move,
  type SpaceTime,
  type TimeKind,
  askSpaceTime,
} from "../model/space_time";
import { colour, contentColour } from "../model/theme";
import { type Walked, walk } from "../model/walk";
import type { Scene } from "./view";

export const LIKE_MIN = 10; // percent: less is not in the table `similarities`

export const LANES: [LaneKind, string][] = [
  ["process", "processes"],
  ["node", "nodes"],
];
export const TIMES: [TimeKind, string][] = [
  ["cluster", "cluster time"],
  ["raw", "own clocks"],
  ["order", "logical order"],
];

export function wordOf<T extends string>(scene: Scene, name: string, among: [T, string][]): T {
  const [usual] = among[0] as [T, string];
  return among.find(([each]) => each === scene.place.parameters.get(name))?.[0] ?? usual;
}

export function windowOf({ place }: Scene): [number, number] | null {
  const [begin, end] = ["begin", "end"].map((name) => Number(place.parameters.get(name) ?? NaN));
  return begin !== undefined && end !== undefined && end > begin ? [begin, end] : null;
}

export const likeOf = ({ place }: Scene): number =>
  Math.min(Math.max(Number(place.parameters.get("like") ?? 100) || 100, LIKE_MIN), 100);

export function askedOf(scene: Scene): Asked {
  const event = scene.place.parameters.get("event");
  return {
    lanes: wordOf(scene, "lane", LANES),
    time: wordOf(scene, "time", TIMES),
    isAll: scene.place.parameters.get("calls") === "all",
    begin_ns: scene.trace.begin_ns,
    window: windowOf(scene),
    event: event !== null && /^\d+$/.test(event) ? event : null,
  };
}

// The last answers: to pick a datum or to move the slider asks nothing anew.
let whole: { key: string; event: string | null; data: SpaceTime } | null = null;
let part: { key: string; data: SpaceTime } | null = null; // what the window leaves of what is too much
let lastPairs: { key: string; pairs: Pair[] } | null = null;

export const has = (data: SpaceTime, event: string | null): boolean =>
  event === null || data.moves.some(({ id }) => id === event);

export async function dataOf(asked: Asked, { trace, signal }: Scene): Promise<SpaceTime> {
  const key = JSON.stringify([asked.lanes, asked.time, asked.isAll, selection(), trace.path, trace.events]);
  if (whole?.key !== key || !(has(whole.data, asked.event) || whole.event === asked.event)) {
    whole = { key, event: asked.event, data: await askSpaceTime({ ...asked, window: null }, selection(), signal) };
  }
  if (!whole.data.isCut || asked.window === null) {
    return whole.data;
  }
  const { span } = whole.data,
    partKey = JSON.stringify([key, asked.window, asked.event]);
  if (part?.key !== partKey) {
    part = { key: partKey, data: { ...(await askSpaceTime(asked, selection(), signal)), span } };
  }
  return part.data;
}

export async function pairsOf(scene: Scene): Promise<Pair[]> {
  const key = JSON.stringify([selection(), scene.trace.path, scene.trace.events]);
  if (lastPairs?.key !== key) {
    lastPairs = { key, pairs: await askPairs(selection(), scene.signal) };
  }
  return lastPairs.pairs;
}

export function coloursOf(
  data: SpaceTime,
  pairs: Pair[],
  like: number,
): { of: (move: Move) => string; groups: Map<string, string> } {
  const sizes = new Map(
    data.moves.flatMap(({ fingerprint, bytes }) => (fingerprint === null ? [] : [[fingerprint, bytes] as const])),
  );
  const groups = groupsOf(sizes, pairs, like / 100);
  return {
    groups,
    of: ({ fingerprint }) =>
      fingerprint === null ? colour("faint") : contentColour(groups.get(fingerprint) ?? fingerprint),
  };
}

export interface Chosen {
  index: number;
  flow: Flow | null;
  walked: Walked;
}

// `event`, and `message` if it is a line that was clicked: the call that took it.
export function chosenIn(data: SpaceTime, { place }: Scene): Chosen | null {
  const index = data.moves.findIndex(({ id }) => id === place.parameters.get("event")),
    move = data.moves[index];
  if (move === undefined) {
    return null;
  }
  const to = place.parameters.get("message"),
    flow =
      to === null ? null : (data.lines.find((line) => line.from === index && data.moves[line.to]?.id === to) ?? null);
  const begin = flow?.from_position ?? 0,
    end = flow === null ? move.bytes : begin + flow.bytes;
  return { index, flow, walked: walk({ move: index, begin, end }, [...data.lines, ...data.inner]) };
}
