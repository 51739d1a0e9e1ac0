// Statements that the page offers to go on from in the view Query, as the server says them: src/api/page/examples.

import type { Examples } from "../generated/api";
import { askExamples } from "../client/client";

let known: Examples | null = null;

// Once, before the first view is shown.
export async function fetchExamples(): Promise<void> {
  known ??= await askExamples();
}

// What they are about stands in for their words: {condition: "process_id = 7"} for $condition.
export function example(name: keyof Examples, words: Record<string, string> = {}): string {
  return (known?.[name] ?? "").replace(/\$(\w+)/g, (whole, word: string) => words[word] ?? whole);
}
