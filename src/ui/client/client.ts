// The only place that speaks to the server. Its address has the token, so everything is relative.

export interface TraceInfo {
  path: string;
  is_recording: boolean;
  begin_ns: string; // since 1970
  duration_ns: number;
  events: number;
  hosts: string[];
  losses: string;
  damages: string[];
}

export interface QueryColumn {
  name: string;
  kind: "null" | "bool" | "number" | "text" | "nested";
}

export type Cell = string | number | boolean | null;

export interface QueryRows {
  columns: QueryColumn[];
  rows: Cell[][];
  is_cut: boolean;
  losses: string;
}

export interface Finding {
  kind: string;
  process: string;
  text: string;
  cost_ns: number;
  query: string;
}

// What the filter bar leaves: a condition, and nanoseconds from the begin of the trace.
export interface Selection {
  where?: string;
  from_ns?: number;
  to_ns?: number;
}

export interface Names {
  sql: string[];
  columns: string[];
}

export type FileFormat = "csv" | "json" | "parquet";

// What the server says of a question that it cannot answer.
export class Refused extends Error {}

// A question is cancelled by its name, which no other page of the same server has.
const page = Array.from(crypto.getRandomValues(new Uint32Array(2)), (part) => part.toString(36)).join("");
let questions = 0;
let away = false;

// Questions of views since there were none under way: how many were asked, how many of them are over, since when (as performance.now()).
export const tally = { asked: 0, over: 0, since_ms: 0 };

async function counted<T>(answer: Promise<T>): Promise<T> {
  if (tally.asked === tally.over) {
    Object.assign(tally, { asked: 0, over: 0, since_ms: performance.now() });
  }
  ++tally.asked;
  try {
    return await answer;
  } finally {
    ++tally.over;
  }
}

// Whether the server did not answer when it was last asked.
export const isAway = (): boolean => away;

// Who can cancel it waits for it.
const post = (name: string, question: object, signal?: AbortSignal): Promise<Response> =>
  signal === undefined ? posted(name, question) : counted(posted(name, question, signal));

async function posted(name: string, question: object, signal?: AbortSignal): Promise<Response> {
  const number = `${page}-${++questions}`;
  const cancel = (): void => {
    void fetch("api/cancel", { method: "POST", body: JSON.stringify({ question: number }), keepalive: true });
  };
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    const response = await fetch("api/" + name, {
      method: "POST",
      headers: { question: number },
      body: JSON.stringify(question),
      signal: signal ?? null,
    });
    away = false;
    if (!response.ok) {
      const answer = (await response.json()) as { error?: string };
      throw new Refused(answer.error ?? `the server answered ${response.status}`);
    }
    return response;
  } catch (error) {
    away = error instanceof TypeError;
    throw away ? new Refused("dyetrace ui no longer answers: start it again, or look at its terminal") : error;
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}

export async function ask<T>(name: string, question: object, signal?: AbortSignal): Promise<T> {
  return (await (await post(name, question, signal)).json()) as T;
}

export async function askBytes(name: string, question: object, signal?: AbortSignal): Promise<ArrayBuffer> {
  return (await post(name, question, signal)).arrayBuffer();
}

export const askTrace = (): Promise<TraceInfo> => ask("trace", {});
export const askNames = (): Promise<Names> => ask("names", {});
export const askFilter = (where: string): Promise<{ sql: string }> => ask("filter", { where });
export const askFindings = async (signal: AbortSignal): Promise<Finding[]> =>
  (await ask<{ findings: Finding[] }>("report", { findings_only: true }, signal)).findings;

// Of two traces that are open: the one that all views show, and the one that it is compared with.
export type Side = "this" | "other";

// In `sql` the view `selected` is what `selection` leaves of the events.
export function askRows(
  sql: string,
  selection: Selection,
  signal?: AbortSignal,
  rows_max = 1000,
  side: Side = "this",
): Promise<QueryRows> {
  return ask(side === "this" ? "query" : "other_query", { sql, selection, rows_max }, signal);
}

// null: only one trace is open.
export const askOtherTrace = (): Promise<TraceInfo | null> => ask("other_trace", {});

export async function askFile(
  sql: string,
  selection: Selection,
  format: FileFormat,
  signal?: AbortSignal,
): Promise<Blob> {
  return (await post("save", { sql, selection, format }, signal)).blob();
}

// The events that `selection` leaves, for another tool.
export type ExportFormat = "perfetto" | "otlp" | "pcapng";

export interface ExportedFile {
  name: string;
  blob: Blob;
  note: string; // what of the events is not in it
}

export async function askExport(
  format: ExportFormat,
  selection: Selection,
  signal: AbortSignal,
): Promise<ExportedFile> {
  const response = await posted("export", { format, selection }, signal); // whoever asks says so, and has a Cancel of its own
  const name = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "")?.[1] ?? format;
  return { name, blob: await response.blob(), note: response.headers.get("note") ?? "" };
}
