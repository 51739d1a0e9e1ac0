// What every view is given, and what it is called.

import type { TraceInfo } from "../client/client";
import type { Place } from "../model/place";

export interface Scene {
  main: HTMLElement; // the view's own; what it puts there stays until it is replaced
  place: Place;
  trace: TraceInfo;
  signal: AbortSignal; // the person has gone elsewhere
  isAgain: boolean; // the same place, with what is new in a trace that is being recorded
}

export interface View {
  name: string; // in the address
  title: string;
  key: string; // that goes there
  show(scene: Scene): Promise<void>;
}

// A key of the page or of a view, as `?` lists it.
export interface Key {
  keys: string;
  does: string;
}
