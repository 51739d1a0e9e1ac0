// The only place that speaks to the server. Its address has the token, so everything is relative.

export interface TraceInfo {
  path: string;
  is_recording: boolean;
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

export interface Report {
  recording: boolean;
  overview: Record<string, number | string>;
  findings: { kind: string; process: string; text: string; cost_ns: number; query: string }[];
  [table: string]: unknown;
}

// What the server says of a question that it cannot answer.
export class Refused extends Error {}

let questions = 0;

async function ask<T>(name: string, question: object, signal?: AbortSignal): Promise<T> {
  const number = String(++questions);
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
    const answer: unknown = await response.json();
    if (!response.ok) {
      throw new Refused((answer as { error?: string }).error ?? `the server answered ${response.status}`);
    }
    return answer as T;
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}

export const askTrace = (): Promise<TraceInfo> => ask("trace", {});
export const askReport = (signal: AbortSignal): Promise<Report> => ask("report", {}, signal);
export const askRows = (sql: string, signal: AbortSignal): Promise<QueryRows> => ask("query", { sql }, signal);
