// The steps of a layer in order, in groups: a slider, and a button for each; what it means, its rule and its shape.
import { useState } from "preact/hooks";
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

export function Steps({ steps, chosen }: { steps: Step[]; chosen: Step }) {
  const [looked, look] = useState<Step | null>(null); // at which the mouse or the focus is
  return (
    <div class="steps">
      <div class="step-names" role="group" aria-label="steps">
        {groupsOf(steps).map((group) => (
          <span class="step-group" role="group" aria-label={group.title}>
            <span class="step-group-title" aria-hidden="true">
              {group.title}
            </span>
            <span>
              {group.steps.map((step) => {
                const { plain, symbol } = meaningOf(step);
                return (
                  <button
                    type="button"
                    class="step-name"
                    aria-pressed={step === chosen}
                    title={step.name}
                    style={{ borderBottomColor: partColour(step.part) }}
                    disabled={step.kept === false}
                    onClick={() => choose(step)}
                    onMouseEnter={() => look(step)}
                    onMouseLeave={() => look(null)}
                    onFocus={() => look(step)}
                    onBlur={() => look(null)}
                  >
                    {plain}
                    {symbol && <span class="step-symbol"> {symbol}</span>}
                  </button>
                );
              })}
            </span>
          </span>
        ))}
      </div>
      <p class="step-means" aria-live="polite">
        {meaningOf(looked ?? chosen).says}
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
