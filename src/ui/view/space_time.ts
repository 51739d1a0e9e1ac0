// Lanes of processes or nodes, messages as lines between them, the same content in the same colour; what is clicked shows its trail alone.

import type { Pair } from "../model/likeness";
import { go, note as noteWords } from "../model/place";
import type { SpaceTime } from "../model/space_time";
import { type Child, asking, choice, element, failure, lacking, note } from "./elements";
import { saveButtons } from "./save";
import {
  LANES,
  LIKE_MIN,
  TIMES,
  askedOf,
  chosenIn,
  coloursOf,
  dataOf,
  likeOf,
  pairsOf,
  windowOf,
  wordOf,
} from "./space_time_asked";
import { SpaceTimeCanvas } from "./space_time_canvas";
import type { Datum, Picture } from "./space_time_drawing";
import { datumWords, details, messages, pick, remarks } from "./space_time_words";
import type { Scene, View } from "./view";

const SETTLE_MS = 300; // a zoom is over
const HINT = "wheel: zoom · drag: move · shift and drag: a stretch of time · click: its trail · arrows: the next call";

interface Controls {
  root: HTMLElement;
  slider: HTMLInputElement;
  said: HTMLElement; // beside the slider
}

function controls(scene: Scene): Controls {
  const like = likeOf(scene),
    isDown = scene.place.parameters.get("along") === "down";
  const said = element("span", { class: "faint" }),
    slider = element("input", {
      type: "range",
      id: "like",
      min: String(LIKE_MIN),
      max: "100",
      value: String(like),
      "aria-label": "Similarity, percent, from which contents have one colour",
    });
  const reset = { begin: null, end: null };
  const root = element(
    "div",
    { class: "row" },
    choice("Lanes", LANES, wordOf(scene, "lane", LANES), (lane) => go({ lane: lane === "process" ? null : lane })),
    choice("Time", TIMES, wordOf(scene, "time", TIMES), (time) =>
      go({ time: time === "cluster" ? null : time, ...reset }),
    ),
    choice(
      "Direction of time",
      [
        ["across", "time →"],
        ["down", "time ↓"],
      ],
      isDown ? "down" : "across",
      (along) => go({ along: along === "across" ? null : along }),
    ),
    choice(
      "Calls",
      [
        ["messages", "followed calls"],
        ["all", "all"],
      ],
      scene.place.parameters.get("calls") === "all" ? "all" : "messages",
      (calls) => go({ calls: calls === "all" ? calls : null }),
    ),
    element("label", { class: "like" }, "one colour: ", slider, " ", said),
  );
  return { root, slider, said };
}

const likeWords = (like: number, groups: Map<string, string>): string =>
  `${like === 100 ? "the same content" : `${like} % alike`} · ${new Set(groups.values()).size.toLocaleString("en")} of ${groups.size.toLocaleString("en")} contents`;

class Shown {
  private pairs: Pair[] = [];
  private hovered: Datum | null = null;
  private drawn: Picture | null = null;
  private settling: ReturnType<typeof setTimeout> | undefined;
  private readonly stage: SpaceTimeCanvas;
  private readonly above = element("div");
  private readonly readout = element("p", { class: "faint readout", "aria-live": "off" });
  private readonly beside = element("div", { class: "beside" }); // stays in sight however long the picture is
  private readonly below = element("div");

  constructor(
    private readonly scene: Scene,
    private data: SpaceTime,
    private readonly parts: Controls,
  ) {
    const isDown = scene.place.parameters.get("along") === "down",
      [begin, end] = data.span,
      edge = (end - begin) * 0.02 + 1;
    this.stage = new SpaceTimeCanvas(
      windowOf(scene) ?? [begin - edge, end + edge],
      isDown,
      () => scene.main.clientHeight - 150,
      {
        moved: (window) => this.onMoved(window),
        selected: (from, to) => this.select(from, to),
        hovered: (datum) => this.hover(datum),
        picked: (datum) => pick(this.data, datum),
      },
      scene.signal,
    );
    this.parts.slider.addEventListener("input", () => void this.liken());
    this.parts.slider.addEventListener("change", () =>
      noteWords({ like: this.like === 100 ? null : String(this.like) }),
    );
  }

  elements(): Child[] {
    return [
      this.above,
      this.readout,
      element(
        "figure",
        {},
        this.stage.root,
        element(
          "figcaption",
          {},
          saveButtons("space-time", () => this.stage.svgText()),
        ),
      ),
      this.beside,
      this.below,
    ];
  }

  private get like(): number {
    return Number(this.parts.slider.value);
  }

  async liken(): Promise<void> {
    try {
      if (this.like < 100 && this.pairs.length === 0) {
        this.parts.said.textContent = "comparing contents…";
        this.pairs = await pairsOf(this.scene);
      }
      this.draw();
    } catch (error) {
      if (!this.scene.signal.aborted) {
        this.parts.said.replaceChildren(failure(error));
      }
    }
  }

  private draw(): void {
    const { scene, data } = this,
      chosen = chosenIn(data, scene),
      { of, groups } = coloursOf(data, this.pairs, this.like);
    this.hovered = null;
    this.readout.textContent = HINT;
    this.drawn = {
      data,
      time: wordOf(scene, "time", TIMES),
      colourOf: of,
      walked: chosen?.walked ?? null,
      chosen: chosen?.index ?? null,
      hovered: null,
    };
    this.stage.show(this.drawn);
    this.parts.said.textContent = likeWords(this.like, groups);
    this.beside.replaceChildren(...(chosen === null ? [] : [details(scene, data, chosen, groups)]));
    this.above.replaceChildren(...remarks(scene, data));
    this.below.replaceChildren(messages(scene, data, chosen));
  }

  private hover(datum: Datum | null): void {
    if (this.drawn !== null && (datum?.move !== this.hovered?.move || datum?.flow !== this.hovered?.flow)) {
      this.hovered = datum;
      this.readout.textContent = datum === null ? HINT : datumWords(this.scene, this.data, datum);
      this.stage.show({ ...this.drawn, hovered: datum });
    }
  }

  private onMoved([begin, end]: [number, number]): void {
    clearTimeout(this.settling);
    this.settling = setTimeout(() => {
      if (!this.scene.signal.aborted) {
        noteWords({ begin: String(Math.floor(begin)), end: String(Math.ceil(end)) });
        void this.reload([Math.floor(begin), Math.ceil(end)]);
      }
    }, SETTLE_MS);
  }

  // A part of what was too much to be shown may not be too much.
  private async reload(window: [number, number]): Promise<void> {
    const data = await dataOf({ ...askedOf(this.scene), window }, this.scene).catch(() => this.data);
    if (data !== this.data && !this.scene.signal.aborted) {
      this.data = data;
      this.draw();
    }
  }

  private select(from: number, to: number): void {
    const times = this.data.moves.filter(({ x }) => x >= from && x <= to).map(({ at_ns }) => at_ns);
    const [begin, end] = times.length > 0 ? [Math.min(...times), Math.max(...times)] : [from, to];
    if (times.length > 0 || wordOf(this.scene, "time", TIMES) === "cluster") {
      go({ from: String(Math.floor(begin)), to: String(Math.ceil(end)), begin: null, end: null });
    }
  }
}

async function show(scene: Scene): Promise<void> {
  const parts = controls(scene),
    body = asking("following bytes between lanes… (of a large trace that takes a while the first time)");
  const wasFocused = document.activeElement instanceof HTMLCanvasElement;
  if (!scene.isAgain) {
    scene.main.replaceChildren(parts.root, body);
  }
  let data: SpaceTime;
  try {
    data = await dataOf(askedOf(scene), scene);
  } catch (error) {
    if (!scene.signal.aborted) {
      scene.main.replaceChildren(parts.root, failure(error));
    }
    return;
  }
  if (scene.signal.aborted) {
    return;
  }
  if (data.moves.length === 0) {
    scene.main.replaceChildren(
      parts.root,
      scene.place.parameters.get("calls") === "all"
        ? lacking(
            "No call here moved bytes. To see messages record what sends them:",
            "dyetrace record --content=anchors …",
          )
        : note("No bytes are known to have gone on from any call here. “all” shows all calls that moved some."),
    );
    return;
  }
  const shown = new Shown(scene, data, parts);
  scene.main.replaceChildren(parts.root, ...shown.elements());
  if (wasFocused) {
    scene.main.querySelector("canvas")?.focus();
  }
  await shown.liken();
}

export const spaceTime: View = { name: "space-time", title: "Space-time", key: "3", show };
