// The only place that speaks to the server. Its address has the token, so everything is relative. What is asked and answered is in generated/api.ts,
// which is made from src/api/openapi.json.

import type {
  Cell,
  Examples,
  ExportFormat,
  FileFormat,
  FilterAnswer,
  Finding,
  Names,
  Parameter,
  paths,
  Rows,
  RowsName,
  Selection,
  Trace,
} from "../generated/api";

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

// "rows" for "/api/rows": its question, and its answer where that is JSON.
type Asked = { [Path in keyof paths]: Path extends `/api/${infer Name}` ? Name : never }[keyof paths];
type QuestionOf<Name extends Asked> = paths[`/api/${Name}`]["post"]["requestBody"]["content"]["application/json"];
type AnswerOf<Name extends Asked> = paths[`/api/${Name}`]["post"] extends {
  responses: { 200: { content: { "application/json": infer Answer } } };
}
  ? Answer
  : never;

// Two traces may be open: the one that all views show, and the one that it is compared with.
export type Side = "this" | "other";

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

// Who can cancel it waits for it.
function post<Name extends Asked>(
  name: Name,
  question: QuestionOf<Name>,
  signal: AbortSignal | undefined,
  side: Side,
): Promise<Response> {
  const answer = posted(side === "this" ? name : `other_${name}`, question, signal);
  return signal === undefined ? answer : counted(answer);
}

export async function ask<Name extends Asked>(
  name: Name,
  question: QuestionOf<Name>,
  signal?: AbortSignal,
  side: Side = "this",
): Promise<AnswerOf<Name>> {
  return (await (await post(name, question, signal, side)).json()) as AnswerOf<Name>;
}

export async function askBytes<Name extends Asked>(
  name: Name,
  question: QuestionOf<Name>,
  signal?: AbortSignal,
  side: Side = "this",
): Promise<ArrayBuffer> {
  return (await post(name, question, signal, side)).arrayBuffer();
}

export const askTrace = (): Promise<Trace> => ask("trace", {});
export const askNames = (): Promise<Names> => ask("names", {});
export const askExamples = (): Promise<Examples> => ask("examples", {});
export const askFilter = (where: string): Promise<FilterAnswer> => ask("filter", { where });
// Asks about a stretch of time, or about all of it.
export const askFindings = async (stretch: Selection, signal: AbortSignal): Promise<Finding[]> =>
  (
    await ask(
      "report",
      { findings_only: true, ...(Object.keys(stretch).length === 0 ? {} : { selection: stretch }) },
      signal,
    )
  ).findings;

// null: only one trace is open.
export const askOtherTrace = (): Promise<Trace | null> => ask("other_trace", {});

// What a person wrote. In `sql` the view `selected` is what `selection` leaves of the events.
export function askSql(sql: string, selection: Selection, signal?: AbortSignal): Promise<Rows> {
  return ask("query", { sql, selection, rows_max: 1000 }, signal);
}

// Rows that a view shows: src/api/page/sql has a file of that name.
export interface RowsWanted {
  name: RowsName;
  parameters?: Record<string, Parameter>;
  selection: Selection;
  signal: AbortSignal;
  rows_max?: number;
  side?: Side;
}

export function askRows({ name, parameters, selection, signal, rows_max, side }: RowsWanted): Promise<Rows> {
  return ask("rows", { name, parameters: parameters ?? {}, selection, rows_max: rows_max ?? 1000 }, signal, side);
}

// A row by the names of its columns.
export type Row = Record<string, Cell>;

export const recordsOf = ({ columns, rows }: Rows): Row[] =>
  rows.map((row) => Object.fromEntries(columns.map(({ name }, index) => [name, row[index] ?? null])));

export const askRecords = async (wanted: RowsWanted): Promise<Row[]> => recordsOf(await askRows(wanted));

export async function askFile(
  sql: string,
  selection: Selection,
  format: FileFormat,
  signal?: AbortSignal,
): Promise<Blob> {
  return (await post("save", { sql, selection, format }, signal, "this")).blob();
}

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
