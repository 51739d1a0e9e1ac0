// Where one is on the page, which its address says: #query?sql=…  So the back button works, and an address can be kept or sent.

export interface Place {
  view: string;
  words: URLSearchParams;
}

export function place(): Place {
  const [view = "", words = ""] = location.hash.replace(/^#/, "").split("?", 2);
  return { view, words: new URLSearchParams(words) };
}

export function address(view: string, words: Record<string, string> = {}): string {
  const text = new URLSearchParams(words).toString();
  return "#" + view + (text === "" ? "" : "?" + text);
}
