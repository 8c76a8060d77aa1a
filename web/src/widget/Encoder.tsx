// An encoder drawn, in a notebook: a click on a block shows the parameters that it holds.
import { useState } from "preact/hooks";
import { Diagram } from "../shared/Diagram";
import { count } from "../shared/format";
import { toNumber } from "../shared/wire";
import type { EncoderFirst } from "./types";

export function Encoder({ first }: { first: EncoderFirst }) {
  const { boxes } = first.diagram;
  const [chosen, choose] = useState(boxes.find((box) => box.part === "attention" && toNumber(box.parameters) > 0)?.name ?? "");
  const box = boxes.find((one) => one.name === chosen);
  const lines = first.lines[chosen] ?? [];
  return (
    <div class="widget-columns">
      <Diagram diagram={first.diagram} label={`diagram of ${first.label}`} chosen={chosen} onChoose={(one) => one.open || choose(one.name)} />
      <div class="panel" role="region" aria-label="opened block">
        <p class="big-number">
          {count(first.parameters)} <span class="soft">parameters in total</span>
        </p>
        {box && (
          <>
            <h3>
              {box.title}: {count(box.parameters)} parameters
            </h3>
            <div class="wide">
              <table class="rows">
                <tbody>
                  {lines.map((line) => (
                    <tr>
                      <td class="mono">{line.name}</td>
                      <td>
                        {line.formula}
                        <div class="soft">{line.numbers}</div>
                      </td>
                      <td class="number">{count(line.count)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
            {toNumber(box.parameters) === 0 && <p class="note">This block has no parameters.</p>}
          </>
        )}
      </div>
    </div>
  );
}
