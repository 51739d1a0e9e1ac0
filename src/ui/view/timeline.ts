// The timeline: all calls of all threads, from a whole day to a microsecond. The server draws levels of detail (src/api/timeline), the page
// asks for what is in view and a little beside it.

import type { TimelineRows } from "../generated/api";
import { askTimelineProgress, askTimelineRows } from "../client/timeline";
import { place } from "../model/place";
import { element, note } from "./elements";
import { Stage } from "./timeline_stage";
import type { Scene, View } from "./view";

const PROGRESS_MS = 250;

let stage: Stage | null = null;

// The rows; the first time the server reads all of the trace.
async function rowsFor(scene: Scene, where: string): Promise<TimelineRows> {
  const words = element("progress", { "aria-label": "reading the trace" });
  const looks = setInterval(() => {
    void askTimelineProgress(where).then(
      ({ read, of }) => {
        if (of > 0 && !scene.signal.aborted) {
          words.max = of;
          words.value = Math.min(read, of);
          if (!words.isConnected && stage?.root.isConnected !== true) {
            scene.main.replaceChildren(note("reading the trace…"), words);
          }
        }
      },
      () => undefined,
    );
  }, PROGRESS_MS);
  try {
    return await askTimelineRows(where, scene.signal);
  } finally {
    clearInterval(looks);
  }
}

export const timeline: View = {
  name: "timeline",
  title: "Timeline",
  key: "2",
  isBehind: (trace) => stage?.isBehind(trace) === true,
  async show(scene) {
    const where = scene.place.parameters.get("where") ?? "";
    const rows = await rowsFor(scene, where);
    if (scene.signal.aborted) {
      return;
    }
    if (rows.rows.kind.length === 0) {
      stage = null;
      scene.main.replaceChildren(note(where === "" ? "No event was recorded." : "The filter leaves no event."));
      return;
    }
    if (stage === null || !stage.root.isConnected || stage.filter !== where) {
      stage?.leaveView();
      stage = new Stage(rows, where);
      scene.main.replaceChildren(stage.root);
    }
    stage.update(rows, where, scene.trace.duration_ns);
    const shown = stage;
    scene.signal.addEventListener(
      "abort",
      () => {
        if (place().view !== "timeline") {
          shown.leaveView();
        }
      },
      { once: true },
    );
  },
};
