// Where SQL and conditions are written: with colours, brackets, and the names of this trace when one types.

import {
  acceptCompletion,
  autocompletion,
  completionKeymap,
  type CompletionContext,
  type CompletionResult,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { sql, SQLDialect } from "@codemirror/lang-sql";
import { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView, keymap, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const KEYWORDS =
  "select from where group by all order having limit offset distinct as and or not in is null like ilike glob between case when then else end join left right inner full on using " +
  "union except intersect with recursive desc asc true false exists filter over partition values cast similar to interval";
const TYPES = "bigint ubigint integer double varchar boolean timestamp timestamp_ns";
const FUNCTIONS =
  "count sum avg min max quantile_disc quantile_cont median mode any_value list string_agg epoch_ns coalesce nullif greatest least length substr contains starts_with regexp_matches " +
  "regexp_extract lower upper round floor ceil abs format lag lead row_number rank";

const dialect = SQLDialect.define({
  keywords: KEYWORDS,
  types: TYPES,
  builtin: FUNCTIONS,
  doubleDollarQuotedStrings: true,
});
const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--mark)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--number)" },
  { tag: tags.comment, color: "var(--faint)" },
]);
const look = EditorView.theme({
  "&": {
    color: "var(--text)",
    backgroundColor: "var(--panel)",
    border: "1px solid var(--line)",
    borderRadius: "6px",
    fontSize: "13px",
  },
  "&.cm-focused": { outline: "2px solid var(--mark)" },
  ".cm-content": { fontFamily: "ui-monospace, monospace", caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--chosen) !important" },
  ".cm-tooltip": { backgroundColor: "var(--panel)", color: "var(--text)", border: "1px solid var(--line)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--mark)", color: "var(--ground)" },
  ".cm-placeholder": { color: "var(--faint)" },
});

// Words that stand for themselves, besides those of `names`: who types before they are here sees all of them all the same.
function completions(names: () => Promise<string[]>, words: string[]) {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const word = context.matchBefore(/[A-Za-z_][A-Za-z0-9_.]*/);
    if (word === null && !context.explicit) {
      return null;
    }
    const options = [...new Set([...(await names()), ...words])].map((label) => ({
      label,
      type: words.includes(label) ? "keyword" : "property",
    }));
    return { from: word?.from ?? context.pos, options, validFor: /^[A-Za-z0-9_.]*$/ };
  };
}

export interface EditorOptions {
  label: string;
  text: string;
  isOneLine: boolean;
  hint?: string;
  names: () => Promise<string[]>;
  run: (text: string) => void; // Enter in one line, Ctrl+Enter in several
  changed?: (text: string) => void;
}

const FILTER_WORDS = ["AND", "OR", "NOT", "IN", "LIKE", "GLOB", "BETWEEN", "IS NULL", "IS NOT NULL"];

export function editor(options: EditorOptions): EditorView {
  const run = (view: EditorView): boolean => {
    options.run(view.state.doc.toString());
    return true;
  };
  const words = options.isOneLine
    ? FILTER_WORDS
    : [...KEYWORDS.split(" ").map((word) => word.toUpperCase()), ...FUNCTIONS.split(" ")];
  const extensions: Extension[] = [
    history(),
    bracketMatching(),
    sql({ dialect }),
    syntaxHighlighting(colours),
    autocompletion({ override: [completions(options.names, words)], icons: false }),
    keymap.of([
      { key: "Mod-Enter", run },
      { key: "Tab", run: acceptCompletion },
      ...completionKeymap,
      ...(options.isOneLine ? [{ key: "Enter", run }] : []),
      ...historyKeymap,
      ...defaultKeymap,
    ]),
    EditorView.contentAttributes.of({ "aria-label": options.label, spellcheck: "false" }),
    look,
  ];
  const { changed } = options;
  if (changed !== undefined) {
    extensions.push(
      EditorView.updateListener.of(({ docChanged, state }) => {
        if (docChanged) {
          changed(state.doc.toString());
        }
      }),
    );
  }
  if (options.hint !== undefined) {
    extensions.push(placeholder(options.hint));
  }
  extensions.push(
    options.isOneLine
      ? EditorState.transactionFilter.of((change) => (change.newDoc.lines > 1 ? [] : [change]))
      : EditorView.lineWrapping,
  );
  return new EditorView({ doc: options.text, extensions });
}

export function setText(view: EditorView, text: string): void {
  if (view.state.doc.toString() !== text) {
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
  }
}
