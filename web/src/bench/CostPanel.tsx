// What the panel shows behind a number of FLOPs, of parameters in all, or of bytes.
import { Door } from "../shared/Door";
import { brief, bytes, count, share } from "../shared/format";
import { Empty } from "../shared/States";
import { toNumber } from "../shared/wire";
import type { Derived, StepCost } from "./types";

/** `cost` alone is the whole; `cost: layers: attention` is a part of it. */
export const partOf = (id: string): string | null => (id === "cost" ? "" : id.startsWith("cost: ") ? id.slice(6) : null);

const flops = (step: StepCost): number => step.times * toNumber(step.flops);

export function CostPanel({ part, derived }: { part: string; derived: Derived }) {
  const { parts, steps } = derived.costs;
  const inside = steps.filter((step) => !part || step.parts.includes(part));
  if (inside.length === 0) return <Empty>{`This encoder has no cost in ${part}.`}</Empty>;
  const total = inside.reduce((sum, step) => sum + flops(step), 0);
  const deeper = parts.filter((row) => (part ? row.name.startsWith(`${part}: `) && row.name.split(": ").length === part.split(": ").length + 1 : !row.name.includes(": ")));
  return (
    <>
      <p class="big-number">
        {count(total)} <span class="soft">FLOPs</span>
      </p>
      {deeper.length > 0 ? (
        <table class="rows">
          <tbody>
            {deeper.map((row) => (
              <tr key={row.name}>
                <td>{row.name.split(": ").pop()}</td>
                <td class="number">
                  <Door id={`cost: ${row.name}`}>{count(row.flops)}</Door>
                </td>
                <td class="number">{share(row.flops, total)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : (
        inside.sort((one, other) => flops(other) - flops(one)).map((step) => <StepLine step={step} key={step.name} named />)
      )}
    </>
  );
}

/** The arithmetic of a step: a product takes one multiply-add for each place of all its axes together, and each is two FLOPs. */
export function StepLine({ step, named = false }: { step: StepCost; named?: boolean }) {
  const other = toNumber(step.flops) - 2 * toNumber(step.multiply_adds);
  return (
    <p class="step-cost">
      {named && (
        <>
          <Door id={step.name}>{step.name}</Door>
          <br />
        </>
      )}
      {step.formula && (
        <>
          {step.formula} = {step.numbers} = {count(step.multiply_adds)} multiply-adds
          <br />
        </>
      )}
      <span class="soft">
        {step.formula && `2 × that${other > 0 ? ` + ${count(other)}` : ""} = `}
        {count(step.flops)} FLOPs
        {step.times > 1 && `, × ${step.times} layers = ${count(flops(step))}`}
      </span>
    </p>
  );
}

export function ParametersPanel({ derived }: { derived: Derived }) {
  return (
    <>
      <p class="big-number">
        {count(derived.total)} <span class="soft">parameters</span>
      </p>
      <table class="rows">
        <tbody>
          {Object.entries(derived.parts).map(([name, value]) => (
            <tr key={name}>
              <td>{name}</td>
              <td class="number">
                <Door id={name === "layers" ? "layers.*" : name}>{count(value)}</Door>
              </td>
              <td class="number">{share(value, toNumber(derived.total))}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="note">{derived.convention}.</p>
    </>
  );
}

export function MemoryPanel({ derived }: { derived: Derived }) {
  const { weights, activations, total, assumptions } = derived.memory;
  return (
    <>
      <p class="big-number">{bytes(total)}</p>
      <p>
        weights: <Door id="parameters">{count(derived.total)}</Door> × 4 bytes = {count(weights)} bytes
        <br />
        activations: {count(activations)} bytes at batch {derived.batch}, {count(derived.t)} tokens
      </p>
      <p class="note">
        {brief(total)} bytes in total. {assumptions}. The Cost tab also covers a training step and plots both against length and batch size.
      </p>
    </>
  );
}
