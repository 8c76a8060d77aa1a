// All heads as small multiples: a row a layer, a column a head; a click chooses, hovering enlarges.
import { arrays, useAnswer } from "../shared/api";
import { colourOf } from "../shared/colours";
import { Pixels } from "../shared/Pixels";
import { change } from "../shared/place";
import { Fault } from "../shared/States";
import { theme } from "../shared/theme";
import type { Arrays } from "../shared/wire";
import type { Heads, Opened } from "./types";
import { edits, type Where } from "./where";

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
  // Until the weights are there, empty squares keep their room.
  const layers = found?.header.layers ?? (large ? [numbered] : Array.from({ length: opened.layers }, (_, number) => number));
  const heads = found?.header.heads ?? opened.heads;
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
      {layers.map((number, row) => (
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
            {Array.from({ length: heads }, (_, column) => (
              <button
                type="button"
                class={edits().includes(`drop:${number}.${column}`) ? "strip-head silent" : "strip-head"}
                aria-pressed={layer === String(number) && head === column}
                aria-label={`layer ${number}, head ${column}${edits().includes(`drop:${number}.${column}`) ? ", ablated" : ""}`}
                title={`layer ${number}, head ${column}`}
                onClick={() => change({ layer: String(number), head: column ? String(column) : null, step: "attention.weights" })}
              >
                {found ? <Thumbnail found={found} row={row} column={column} /> : <canvas />}
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
  const weights = found.arrays.weights!;
  const [, heads = 1, height = 1, width = 1] = weights.shape;
  const values = weights.data.subarray((row * heads + column) * height * width, (row * heads + column + 1) * height * width);
  const scale = { kind: "sequential", low: 0, high: values.reduce((high, value) => Math.max(high, value), 0) || 1 } as const;
  const dark = theme.value;
  return <Pixels width={width} height={height} colour={(place) => colourOf(values[place]!, scale, dark)} drawn={[weights, row, column, dark]} />;
}
