// FLOPs and memory: against length or batch as a plot, by part as a table.
import { useAnswer } from "../shared/api";
import { Door } from "../shared/Door";
import { brief, bytes, count } from "../shared/format";
import { useParam } from "../shared/place";
import { Plot } from "../shared/Plot";
import { Shown } from "../shared/States";
import { Switch } from "../shared/Switch";
import { toNumber } from "../shared/wire";
import { Exports } from "./Exports";
import type { CostAnswer, Derived } from "./types";
import type { Asked } from "./words";

export function CostTab({ asked, derived }: { asked: Asked; derived: Derived }) {
  const [along, setAlong] = useParam("along", derived.reads === "image" || derived.reads === "frames" ? "batch" : "length");
  const answer = useAnswer<CostAnswer>("/api/bench/cost", { spec: asked.spec, along });
  return (
    <>
      <div class="tab-head">
        <Switch
          label="plot against"
          value={along}
          choices={[
            ["length", "against length"],
            ["batch", "against batch"],
          ]}
          onChange={setAlong}
        />
        <Exports view="cost" asked={asked} />
      </div>
      <Shown answer={answer}>{(cost) => <CostView cost={cost} derived={derived} />}</Shown>
    </>
  );
}

function CostView({ cost, derived }: { cost: CostAnswer; derived: Derived }) {
  const x = cost.points.map((point) => point.size);
  const values = (of: (point: CostAnswer["points"][number]) => number | string) => cost.points.map((point) => toNumber(of(point)));
  const part = (name: string) => values((point) => point.parts[name] ?? 0);
  const length = cost.along === "length";
  const where = length ? `at batch ${count(derived.batch)}` : `at ${count(derived.t)} tokens`;
  const common = { x, xLabel: length ? "t, tokens per input" : "batch size", mark: length ? derived.t : derived.batch };
  return (
    <>
      {x.length > 1 ? (
        <div class="two">
          <Plot
            {...common}
            title={`FLOPs of a forward pass, ${where}`}
            format={brief}
            lines={[
              { label: "all", values: values((point) => point.flops), colour: "var(--ink)" },
              { label: "feed-forward", values: part("layers: feed-forward"), colour: "var(--part-feed-forward)" },
              { label: "attention: projections", values: part("layers: attention: projections"), colour: "var(--part-attention)", dash: [6, 4] },
              { label: "attention: scores and mix", values: part("layers: attention: scores and mix"), colour: "var(--part-attention)" },
            ]}
          />
          <Plot
            {...common}
            title={`Memory in float32, ${where}`}
            format={bytes}
            lines={[
              { label: "weights", values: values((point) => point.weights), colour: "var(--part-embedding)" },
              { label: "activations, forward", values: values((point) => point.activations), colour: "var(--part-attention)" },
              { label: "a training step with AdamW", values: values((point) => point.training), colour: "var(--part-head)", dash: [6, 4] },
            ]}
          />
        </div>
      ) : (
        <p class="note">The spec fixes the length, so there is nothing to plot against it. Plot against batch size instead.</p>
      )}
      <div class="wide">
        <table class="rows">
          <thead>
            <tr>
              <th scope="col">part</th>
              <th scope="col" class="number">
                multiply-adds in products
              </th>
              <th scope="col" class="number">
                FLOPs, all operations
              </th>
            </tr>
          </thead>
          <tbody>
            {cost.parts.map((row) => (
              <tr key={row.name}>
                <td style={{ paddingLeft: `${1.2 * (row.name.split(": ").length - 1)}rem` }}>{row.name.split(": ").pop()}</td>
                <td class="number">{count(row.multiply_adds)}</td>
                <td class="number">
                  <Door id={`cost: ${row.name}`} label={`FLOPs of ${row.name}: ${count(row.flops)}`}>
                    {count(row.flops)}
                  </Door>
                </td>
              </tr>
            ))}
            <tr class="total">
              <td>total</td>
              <td class="number">{count(cost.multiply_adds)}</td>
              <td class="number">
                <Door id="cost" label={`total FLOPs: ${count(cost.flops)}`}>
                  {count(cost.flops)}
                </Door>
              </td>
            </tr>
          </tbody>
        </table>
      </div>
      <p class="note">{cost.convention}.</p>
      <p class="note">
        Forward: {bytes(cost.memory.weights)} of weights and {bytes(cost.memory.activations)} of activations ({cost.memory.assumptions}). A training step: {brief(cost.training.flops)} FLOPs,{" "}
        {bytes(cost.training.memory.total)} ({cost.training.memory.assumptions}).
      </p>
    </>
  );
}
