// The steps of a layer in order, in groups: a slider, and a button for each; what it means, its rule and its shape.
import { signal } from "@preact/signals";
import { partColour } from "../shared/colours";
import { Math } from "../shared/Math";
import { change } from "../shared/place";
import { stepKey, stepTitle } from "./cells";
import { groupsOf, meaningOf } from "./meanings";
import type { Step } from "./types";

const choose = (step: Step | undefined, how: "push" | "replace" = "push") => {
  if (step) change({ step: stepKey(step), row: null, column: null }, how);
};

export function Slider({ steps, chosen }: { steps: Step[]; chosen: Step }) {
  const place = steps.indexOf(chosen);
  return (
    <div class="step-slider">
      <button type="button" class="quiet" aria-label="previous step" disabled={place <= 0} onClick={() => choose(steps[place - 1])}>
        ◀
      </button>
      <input type="range" min={0} max={steps.length - 1} value={place} aria-label="step" aria-valuetext={stepTitle(chosen.name)} onInput={(event) => choose(steps[Number(event.currentTarget.value)], "replace")} />
      <button type="button" class="quiet" aria-label="next step" disabled={place >= steps.length - 1} onClick={() => choose(steps[place + 1])}>
        ▶
      </button>
    </div>
  );
}

const looked = signal<Step | null>(null); // at which the mouse or the focus is

/** The steps by groups, each a button: plain name, and its symbol beside it. */
export function Steps({ steps, chosen }: { steps: Step[]; chosen: Step }) {
  return (
    <nav class="step-names" aria-label="steps">
      {groupsOf(steps).map((group) => (
        <div class="step-group" role="group" aria-label={group.title} style={{ borderLeftColor: partColour(group.steps.at(-1)!.part) }}>
          <span class="step-group-title" aria-hidden="true">
            {group.title}
          </span>
          {group.steps.map((step) => {
            const { plain, symbol } = meaningOf(step);
            return (
              <button
                type="button"
                class="step-name"
                aria-pressed={step === chosen}
                title={step.name}
                disabled={step.kept === false}
                onClick={() => choose(step)}
                onMouseEnter={() => (looked.value = step)}
                onMouseLeave={() => (looked.value = null)}
                onFocus={() => (looked.value = step)}
                onBlur={() => (looked.value = null)}
              >
                {plain}
                {symbol && <span class="step-symbol"> {symbol}</span>}
              </button>
            );
          })}
        </div>
      ))}
    </nav>
  );
}

/** What a step means, its rule and its shape. */
export function Meaning({ chosen }: { chosen: Step }) {
  const other = looked.value !== null && looked.value !== chosen ? looked.value : null;
  return (
    <div class="steps">
      <p class="step-means" aria-live="polite">
        {other && <b>{meaningOf(other).plain}: </b>}
        {meaningOf(other ?? chosen).says}
      </p>
      <div class="step-rule">
        <span class="wide">{chosen.latex ? <Math latex={chosen.latex} /> : <span>model input</span>}</span>
        <span class="note">
          {chosen.name} · {chosen.axes.filter(([axis, size]) => axis !== "batch" || size > 1).map(([axis, size]) => `${axis} ${size}`).join(" × ") || "scalar"}
        </span>
      </div>
    </div>
  );
}
