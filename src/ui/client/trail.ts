// The question `follow`: where bytes went, or where they came from, as `dyetrace follow --json` says it.

import { ask } from "./client";

export type Certainty = "possible" | "likely" | "certain"; // in this order
export type Direction = "forward" | "back";

// What one process did alike to one object, in one call or many.
export interface Hop {
  hop: number;
  process_id: string;
  process: string;
  name: string;
  what: string;
  path: string | null;
  path2: string | null;
  object_id: string | null; // taken from
  object2_id: string | null; // put into
  offset: number | null; // of the file or stream, as far as its calls cover it
  offset_end: number | null;
  bytes: number;
  calls: number;
  first_event_id: string;
  first_ns: number;
  is_start: boolean;
  lost_sight: boolean;
  lost_sight_because: string | null;
}

export interface Link {
  from_hop: number; // the cause, whichever way was asked
  to_hop: number;
  flows: number;
  bytes: number;
  rules: string[];
  certainty: Certainty;
}

export interface Trail {
  question: string;
  direction: Direction;
  min_certainty: Certainty;
  hops: Hop[];
  links: Link[];
  hops_left_out: number;
  is_cut: boolean;
  has_content: boolean;
  gaps: string | null;
}

export interface TrailQuestion {
  start: string; // /srv/data, /srv/data:100-200, dye:card, event:4711, hash:0x1f
  direction: Direction;
  min_certainty: Certainty;
  hops_max: number;
}

export const askTrail = (question: TrailQuestion, signal: AbortSignal): Promise<Trail> => ask("follow", question, signal);
