// The trail of some bytes over the flows that are shown: byte by byte as `dyetrace follow` goes, forward and back, without asking the server.

import type { Flow } from "./space_time";

const STEPS_MAX = 200_000;

interface Piece {
  move: number;
  begin: number; // among the bytes that it moved
  end: number;
}

export interface Walked {
  forward: Set<number>; // moves; the first one is in both
  back: Set<number>;
  flows: Set<Flow>;
}

type Step = (flow: Flow) => { near: number; nearAt: number; far: number; farAt: number };
const FORWARD: Step = (flow) => ({
  near: flow.from,
  nearAt: flow.from_position,
  far: flow.to,
  farAt: flow.to_position,
});
const BACK: Step = (flow) => ({ near: flow.to, nearAt: flow.to_position, far: flow.from, farAt: flow.from_position });

function walkOneWay(start: Piece, flows: Flow[], step: Step, used: Set<Flow>): Set<number> {
  const leaving = new Map<number, Flow[]>();
  for (const flow of flows) {
    const { near } = step(flow);
    leaving.set(near, [...(leaving.get(near) ?? []), flow]);
  }
  const reached = new Map<number, Piece[]>([[start.move, [start]]]),
    ahead = [start];
  for (let steps = 0; ahead.length > 0 && steps < STEPS_MAX; ++steps) {
    const piece = ahead.pop() as Piece;
    for (const flow of leaving.get(piece.move) ?? []) {
      const { nearAt, far, farAt } = step(flow);
      const begin = Math.max(piece.begin, nearAt),
        end = Math.min(piece.end, nearAt + flow.bytes);
      if (begin >= end) {
        continue;
      }
      used.add(flow);
      const next = { move: far, begin: begin - nearAt + farAt, end: end - nearAt + farAt },
        known = reached.get(far) ?? [];
      if (!known.some((old) => old.begin <= next.begin && next.end <= old.end)) {
        reached.set(far, [...known, next]);
        ahead.push(next);
      }
    }
  }
  return new Set(reached.keys());
}

export function walk(start: Piece, flows: Flow[]): Walked {
  const used = new Set<Flow>();
  return { forward: walkOneWay(start, flows, FORWARD, used), back: walkOneWay(start, flows, BACK, used), flows: used };
}
