// A view of several parts, each with a question of its own: what is ready is shown, what is not says so, what failed says why.

import { asking, element, failure, type Child } from "./elements";
import type { Scene } from "./view";

export interface Panel {
  title: string;
  isWide?: boolean;
  fill(): Promise<Child[]>; // nothing: the panel has nothing to show and goes
}

export async function showPanels(scene: Scene, panels: Panel[]): Promise<void> {
  const find = (title: string): HTMLElement | null => scene.main.querySelector(`section[aria-label="${title}"]`);
  if (!scene.isAgain || panels.some(({ title }) => find(title) === null)) {
    scene.main.replaceChildren(
      element(
        "div",
        { class: "panels" },
        ...panels.map(({ title, isWide }) =>
          element(
            "section",
            { "aria-label": title, ...(isWide === true ? { class: "wide" } : {}) },
            element("h2", {}, title),
            asking("asking…"),
          ),
        ),
      ),
    );
  }
  const fill = async (panel: Panel): Promise<void> => {
    const root = find(panel.title);
    let children: Child[];
    try {
      children = await panel.fill();
    } catch (error) {
      children = [failure(error)];
    }
    if (root !== null && !scene.signal.aborted) {
      root.hidden = children.length === 0;
      root.replaceChildren(element("h2", {}, panel.title), ...children);
    }
  };
  await Promise.all(panels.map(fill));
}
