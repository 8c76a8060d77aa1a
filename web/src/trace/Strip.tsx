// All heads as small multiples: a row a layer, a column a head; a click chooses, hovering enlarges.
import { arrays, useAnswer } from "../shared/api";
import { colourOf } from "../shared/colours";
import { Pixels } from "../shared/Pixels";
import { change, query } from "../shared/place";
import { Fault } from "../shared/States";
import { theme } from "../shared/theme";
import type { Arrays, FloatArray } from "../shared/wire";
import { stepKey } from "./cells";
import { crosses, dropOf, isWeights, layerOf, parsePart, partName, partOf } from "./parts";
import type { Heads, Opened, Stack, Step } from "./types";
import { edits, type Where } from "./where";

interface StripProps {
  opened: Opened;
  where: Where;
  part: string;
  head: number;
}

const sizeOf = (step: Step): number => step.axes.reduce((size, [, one]) => size * one, 1);

export function Strip({ opened, where, part, head }: StripProps) {
  const own = layerOf(part) ?? 0;
  const weights = opened.steps.filter((step) => isWeights(step.name));
  const large = weights.reduce((size, step) => size + sizeOf(step), 0) > 6_000_000 || !opened.whole;
  const answer = useAnswer<Arrays<Heads>>("/api/trace/heads", { ...where, layer: large ? own : 0 }, (url, body, signal) => arrays<Heads>(url, body, signal));
  const button = (id: string, words: string) => (
    <button type="button" class="strip-part" aria-pressed={part === id} onClick={() => change({ layer: id, step: null, row: null, column: null })}>
      {words}
    </button>
  );
  const has = (id: string) => opened.steps.some((step) => partOf(step) === id);
  return (
    <nav class={Math.max(...opened.stacks.map((stack) => stack.heads)) > 8 ? "strip many" : "strip"} aria-label="layers and heads">
      <Fault error={answer.error} />
      {opened.stacks.map((stack) => (
        <>
          {stack.name && <span class="strip-stack">{stack.name}</span>}
          {button(partName(stack.name, "in"), "embedding")}
          {large && <Layers stack={stack} part={part} own={own} />}
          {weights
            .filter((step) => step.stack === stack.name && (!large || step.layer === own))
            .map((step) => (
              <Row step={step} stack={stack} part={part} head={head} found={answer.value} key={step.name} />
            ))}
          {stack.name && has(partName(stack.name, "after")) && button(partName(stack.name, "after"), "final norm")}
        </>
      ))}
      {has("after") && button("after", "output")}
    </nav>
  );
}

/** Of a large run, which layer is looked at. */
function Layers({ stack, part, own }: { stack: Stack; part: string; own: number }) {
  return (
    <label class="strip-layer">
      layer{" "}
      <select value={String(parsePart(part).stack === stack.name ? own : 0)} onChange={(event) => change({ layer: partName(stack.name, event.currentTarget.value) })}>
        {Array.from({ length: stack.layers }, (_, number) => (
          <option>{number}</option>
        ))}
      </select>
    </label>
  );
}

/** The heads of one layer; of a decoder that reads an encoder, those of one of its two attentions. */
function Row({ step, stack, part, head, found }: { step: Step; stack: Stack; part: string; head: number; found: Arrays<Heads> | undefined }) {
  const here = partOf(step);
  const cross = crosses(step.name);
  const twice = stack.name === "decoder";
  const name = `${stack.name ? `${stack.name} ` : ""}layer ${step.layer}${twice ? (cross ? " cross-attention" : " self-attention") : ""}`;
  const heads = step.axes.find(([axis]) => axis === "head")?.[1] ?? stack.heads;
  const chosen = part === here && (!twice || cross === crosses(query.value.get("step") ?? "cross."));
  return (
    <div class="strip-row">
      <button type="button" class="strip-name" aria-pressed={chosen} aria-label={name} onClick={() => change({ layer: here, ...(twice && { step: stepKey(step) }), row: null, column: null })}>
        {step.layer}
        {twice && <span class="strip-kind"> {cross ? "cross" : "self"}</span>}
      </button>
      <div class="strip-heads">
        {Array.from({ length: heads }, (_, column) => {
          const silent = edits().includes(dropOf(here, step.name, column));
          const seen = found?.arrays[step.name];
          return (
            <button
              type="button"
              class={silent ? "strip-head silent" : "strip-head"}
              aria-pressed={chosen && head === column}
              aria-label={`${name}, head ${column}${silent ? ", ablated" : ""}`}
              title={`${name}, head ${column}`}
              onClick={() => change({ layer: here, head: column ? String(column) : null, step: stepKey(step) })}
            >
              {seen ? <Thumbnail weights={seen} column={column} /> : <canvas />}
            </button>
          );
        })}
      </div>
    </div>
  );
}

function Thumbnail({ weights, column }: { weights: FloatArray; column: number }) {
  const [, height = 1, width = 1] = weights.shape;
  const values = weights.data.subarray(column * height * width, (column + 1) * height * width);
  const scale = { kind: "sequential", low: 0, high: values.reduce((high, value) => Math.max(high, value), 0) || 1 } as const;
  const dark = theme.value;
  return <Pixels width={width} height={height} colour={(place) => colourOf(values[place]!, scale, dark)} drawn={[weights, column, dark]} />;
}
