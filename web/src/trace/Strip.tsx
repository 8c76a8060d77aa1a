// All heads as small multiples: a row a layer, a column a head; a click chooses, hovering enlarges.
import { useEffect, useRef } from "preact/hooks";
import { arrays, useAnswer } from "../shared/api";
import { colourOf } from "../shared/colours";
import { change } from "../shared/place";
import { Fault } from "../shared/States";
import { theme } from "../shared/theme";
import type { Arrays } from "../shared/wire";
import type { Opened, Where } from "./types";
import { edits } from "./where";

interface Heads {
  layers: number[];
  heads: number;
  all: boolean;
}

interface StripProps {
  opened: Opened;
  where: Where;
  layer: string;
  head: number;
}

export function Strip({ opened, where, layer, head }: StripProps) {
  const numbered = /^\d+$/.test(layer) ? Number(layer) : 0;
  const large = opened.layers * opened.heads * opened.t * opened.t > 6_000_000 || !opened.whole;
  const answer = useAnswer<Arrays<Heads>>("/api/trace/heads", { ...where, layer: large ? numbered : 0 }, (url, body, signal) => arrays<Heads>(url, body, signal));
  const found = answer.value;
  const after = opened.steps.some((step) => step.layer === "after");
  const part = (id: string, words: string) => (
    <button type="button" class="strip-part" aria-pressed={layer === id} onClick={() => change({ layer: id, step: null, row: null, column: null })}>
      {words}
    </button>
  );
  return (
    <nav class={opened.heads > 8 ? "strip many" : "strip"} aria-label="layers and heads">
      {part("in", "embedding")}
      <Fault error={answer.error} />
      {large && (
        <label class="strip-layer">
          layer{" "}
          <select value={String(numbered)} onChange={(event) => change({ layer: event.currentTarget.value })}>
            {Array.from({ length: opened.layers }, (_, number) => (
              <option>{number}</option>
            ))}
          </select>
        </label>
      )}
      {found &&
        found.header.layers.map((number, row) => (
          <div class="strip-row" key={number}>
            <button
              type="button"
              class="strip-name"
              aria-pressed={layer === String(number)}
              aria-label={`layer ${number}`}
              onClick={() => change({ layer: String(number), row: null, column: null })}
            >
              {number}
            </button>
            <div class="strip-heads">
              {Array.from({ length: found.header.heads }, (_, column) => (
                <button
                  type="button"
                  class={edits().includes(`drop:${number}.${column}`) ? "strip-head silent" : "strip-head"}
                  aria-pressed={layer === String(number) && head === column}
                  aria-label={`layer ${number}, head ${column}${edits().includes(`drop:${number}.${column}`) ? ", silenced" : ""}`}
                  title={`layer ${number}, head ${column}`}
                  onClick={() => change({ layer: String(number), head: column ? String(column) : null, step: "attention.weights" })}
                >
                  <Thumbnail found={found} row={row} column={column} />
                </button>
              ))}
            </div>
          </div>
        ))}
      {after && part("after", "output")}
    </nav>
  );
}

function Thumbnail({ found, row, column }: { found: Arrays<Heads>; row: number; column: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const weights = found.arrays.weights!;
  const [, heads = 1, height = 1, width = 1] = weights.shape;
  const dark = theme.value;
  useEffect(() => {
    const pen = canvas.current?.getContext("2d");
    if (!pen) return;
    const values = weights.data.subarray((row * heads + column) * height * width, (row * heads + column + 1) * height * width);
    const most = values.reduce((high, value) => Math.max(high, value), 0) || 1;
    const image = pen.createImageData(width, height);
    values.forEach((value, i) => image.data.set([...colourOf(value, { kind: "sequential", low: 0, high: most }, dark), 255], 4 * i));
    pen.putImageData(image, 0, 0);
  }, [weights, row, column, dark]);
  return <canvas ref={canvas} width={width} height={height} aria-hidden="true" />;
}
