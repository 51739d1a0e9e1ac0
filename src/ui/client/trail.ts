// The question `follow`: where bytes went, or where they came from, as `dyetrace follow --json` says it.

import type { Trail, TrailQuestion } from "../generated/api";
import { ask } from "./client";

export const askTrail = (question: TrailQuestion, signal: AbortSignal): Promise<Trail> =>
  ask("follow", question, signal);
