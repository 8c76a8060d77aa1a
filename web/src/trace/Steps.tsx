// The steps of a layer in order: a slider, and a button for each; the rule and the shape of the one that is shown.
import { partColour } from "../shared/colours";
import { Math } from "../shared/Math";
import { change } from "../shared/place";
import { stepKey, stepTitle } from "./cells";
import type { Step } from "./types";

export function Steps({ steps, chosen }: { steps: Step[]; chosen: Step }) {
  const place = steps.indexOf(chosen);
  const go = (next: number, how: "push" | "replace" = "push") => {
    const step = steps[next];
    if (step) change({ step: stepKey(step), row: null, column: null }, how);
  };
  return (
    <div class="steps">
      <div class="step-slider">
        <button type="button" class="quiet" aria-label="previous step" disabled={place <= 0} onClick={() => go(place - 1)}>
          ◀
        </button>
        <input
          type="range"
          min={0}
          max={steps.length - 1}
          value={place}
          aria-label="step"
          aria-valuetext={stepTitle(chosen.name)}
          onInput={(event) => go(Number(event.currentTarget.value), "replace")}
        />
        <button type="button" class="quiet" aria-label="next step" disabled={place >= steps.length - 1} onClick={() => go(place + 1)}>
          ▶
        </button>
      </div>
      <div class="step-names" role="group" aria-label="steps">
        {steps.map((step, number) => (
          <button type="button" class="step-name" aria-pressed={step === chosen} title={step.name} style={{ borderBottomColor: partColour(step.part) }} onClick={() => go(number)} disabled={step.kept === false}>
            {step.entering ? "x" : stepTitle(step.name)}
          </button>
        ))}
      </div>
      <div class="step-rule">
        <span class="wide">{chosen.latex ? <Math latex={chosen.latex} /> : <span>model input</span>}</span>
        <span class="note">
          {chosen.name} · {chosen.axes.filter(([axis, size]) => axis !== "batch" || size > 1).map(([axis, size]) => `${axis} ${size}`).join(" × ") || "scalar"}
        </span>
      </div>
    </div>
  );
}
