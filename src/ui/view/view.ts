// What every view is given, and what it is called.

import type { Trace } from "../generated/api";
import type { Place } from "../model/place";

export interface Scene {
  main: HTMLElement; // the view's own; what it puts there stays until it is replaced
  place: Place;
  trace: Trace;
  signal: AbortSignal; // the person has gone elsewhere
  isAgain: boolean; // the same place, with what is new in a trace that is being recorded
}

export interface View {
  name: string; // in the address
  title: string;
  key: string; // that goes there
  show(scene: Scene): Promise<void>;
  isBehind?(trace: Trace): boolean; // what it shows lacks some of what is known of a recording by now
}

// A key of the page or of a view, as `?` lists it.
export interface Key {
  keys: string;
  does: string;
}
