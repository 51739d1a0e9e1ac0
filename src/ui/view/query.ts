// SQL, and its rows as a table.

import { askRows } from "../client/client";
import { address, type Place } from "../model/place";
import { element, failure, table } from "./elements";

const FIRST = "SELECT name, count(*) AS calls, sum(bytes) AS bytes\nFROM events GROUP BY ALL ORDER BY calls DESC LIMIT 20";

export function showQuery(main: HTMLElement, place: Place, signal: AbortSignal): void {
  const sql = element("textarea", { "aria-label": "SQL", spellcheck: "false" });
  sql.value = place.words.get("sql") ?? FIRST;
  const answer = element("section", { "aria-live": "polite" });
  const run = element("button", {}, "Run (Ctrl+Enter)");
  const ask = (): void => {
    const next = address("query", { sql: sql.value });
    if (location.hash === next) {
      void show();
    } else {
      location.hash = next;
    }
  };
  const show = async (): Promise<void> => {
    answer.replaceChildren(element("p", { class: "faint" }, "asking…"));
    const begun = performance.now();
    try {
      const rows = await askRows(sql.value, signal);
      const seconds = ((performance.now() - begun) / 1000).toFixed(2);
      const words = `${rows.rows.length.toLocaleString("en")} rows${rows.is_cut ? ", and more" : ""} · ${seconds} s`;
      answer.replaceChildren(element("p", { class: "faint" }, words), table(rows.columns, rows.rows, "answer"));
    } catch (error) {
      if (!signal.aborted) {
        answer.replaceChildren(failure(error));
      }
    }
  };
  run.addEventListener("click", ask);
  sql.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      ask();
    }
  });
  main.replaceChildren(element("h2", {}, "Query"), sql, element("p", {}, run), answer);
  if (place.words.has("sql")) {
    void show();
  }
}
