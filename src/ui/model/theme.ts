// Light or dark, and the colours of what is drawn. Okabe and Ito's colours, which people with any colour vision tell apart.

export const CLASSES = ["file", "metadata", "network", "pipe", "process", "memory", "wait", "block", "other"] as const;

const LIGHT: Record<string, string> = {
  file: "#0072b2",
  metadata: "#56b4e9",
  network: "#d55e00",
  pipe: "#009e73",
  process: "#cc79a7",
  memory: "#b8a500",
  wait: "#9aa0a6",
  block: "#7a3e9d",
  other: "#5f6368",
  text: "#1c1f23",
  faint: "#5d6570",
  line: "#d9dce0",
  ground: "#fbfbfa",
  panel: "#ffffff",
  mark: "#0b66c3",
  bad: "#a3261b",
};
const DARK: Record<string, string> = {
  file: "#4aa8e0",
  metadata: "#8fd0f5",
  network: "#ff8c42",
  pipe: "#2bc79a",
  process: "#e6a3c8",
  memory: "#e8d94a",
  wait: "#80868b",
  block: "#b98ad6",
  other: "#9aa0a6",
  text: "#e6e8ea",
  faint: "#9aa3ad",
  line: "#343a41",
  ground: "#14171a",
  panel: "#1c2024",
  mark: "#6cb2ff",
  bad: "#ff8d80",
};

export type Theme = "light" | "dark";
const dark = matchMedia("(prefers-color-scheme: dark)");

function kept(): Theme | null {
  const value = localStorage.getItem("dyetrace-theme");
  return value === "light" || value === "dark" ? value : null;
}

export const theme = (): Theme => kept() ?? (dark.matches ? "dark" : "light");
export const colour = (name: string): string => (theme() === "dark" ? DARK : LIGHT)[name] ?? "#888888";

// A colour of its own for each content: hues that lie far apart for fingerprints that do.
export function contentColour(fingerprint: string): string {
  let hash = 0;
  for (const letter of fingerprint) {
    hash = (Math.imul(hash, 31) + letter.charCodeAt(0)) >>> 0;
  }
  return `hsl(${Math.round((hash * 0.618034) % 360)} 65% ${theme() === "dark" ? 62 : 42}%)`;
}

export function applyTheme(): void {
  document.documentElement.dataset["theme"] = theme();
}

export function switchTheme(): void {
  localStorage.setItem("dyetrace-theme", theme() === "dark" ? "light" : "dark");
  applyTheme();
}

export function onThemeOfSystem(changed: () => void): void {
  dark.addEventListener("change", changed);
}
