// Scene 6: the values of all words become one, by their shares; all heads at once, and one of them silenced.
import { useState } from "preact/hooks";
import { exported } from "../../shared/exported";
import { Go } from "../../shared/Go";
import { Laid, NowYou, short, Small, Strip, Strips, useOpened } from "../parts";
import { answerOf, byLargest, classesOf, LAYER, largest, rerun, row, sharesOf, shown, traceOf, type Told } from "../told";
import { Words } from "../Words";

const NAMED = 3; // pieces whose values have a row of their own
const MOSTLY = 0.4; // the mean share from which a head is said to look at one piece

export function Mixing(told: Told) {
  const [opened, open] = useOpened();
  const { d_model: width, heads } = told.model.header;
  const [shares, count, size] = [sharesOf(told), told.pieces.length, width / heads];
  const value = (s: number) => row(told.values[`layers.${LAYER}.attention.v`]!, s, width).slice(0, size);
  const mix = row(told.values[`layers.${LAYER}.attention.mix`]!, told.asks, width).slice(0, size);
  const order = byLargest(shares);
  const named = order.slice(0, NAMED);
  const part = (s: number) => value(s).map((one) => one * shares[s]!);
  const others = order.slice(NAMED).reduce((sum, s) => sum.map((one, i) => one + part(s)[i]!), new Float32Array(size));
  const explain = (s: number) => (i: number) => open(<>{`${short(shares[s]!)} × ${short(value(s)[i]!)} = ${short(part(s)[i]!)}: the share of “${shown(told.pieces[s]!)}” times number ${i} of what it says (its value, v)`}</>);
  const explainSum = (i: number) => open(<>{`mix[${i}] = ${named.map((s) => short(part(s)[i]!)).join(" + ")}${others.length && count > NAMED ? ` + ${short(others[i]!)}` : ""} = ${short(mix[i]!)}`}</>);
  return (
    <Laid opened={opened} ask={<AskMixing {...told} />}>
      <Words told={told} shares={shares} />
      <Strips label="values and their mix">
        {named.map((s) => (
          <Strip name={`${short(shares[s]!)} × what “${shown(told.pieces[s]!)}” says`} values={part(s)} open={explain(s)} />
        ))}
        {count > NAMED && <Strip name={`+ the other ${count - NAMED}`} values={others} open={(i) => open(<>{`number ${i} of the other ${count - NAMED} values, each times its share, adds to ${short(others[i]!)}`}</>)} />}
        <Strip name={`= the mix for “${shown(told.pieces[told.asks]!)}”`} values={mix} open={explainSum} sum />
      </Strips>
      <Heads told={told} />
    </Laid>
  );
}

/** A small map for each head, with the piece that most words look at, if there is one. */
function Heads({ told }: { told: Told }) {
  const { heads, layers } = told.model.header;
  const count = told.pieces.length;
  const name = (layer: number, head: number) => `layer ${layer}, head ${head}`;
  return (
    <>
      <p class="note">All heads at once: a row asks, a column is looked at, darker is a larger share. The numbers above are of the framed one.</p>
      <div class="walk-heads">
        {Array.from({ length: layers * heads }, (_, i) => [Math.floor(i / heads), i % heads] as const).map(([layer, head]) => {
          const weights = told.values[`layers.${layer}.attention.weights`]!.slice(head * count * count, (head + 1) * count * count);
          return (
            <figure class={layer === LAYER && head === 0 ? "chosen" : ""}>
              <Small values={weights} columns={count} label={name(layer, head)} />
              <figcaption>
                {exported ? name(layer, head) : <Go to={traceOf(told, layer, head)} title="open in Trace">{name(layer, head)}</Go>}
                <span class="note">{favourite(told, weights)}</span>
              </figcaption>
            </figure>
          );
        })}
      </div>
    </>
  );
}

/** What a head looks at, on average over all words. */
function favourite({ pieces }: Told, weights: Float32Array): string {
  const count = pieces.length;
  const means = pieces.map((_, s) => pieces.reduce((sum, __, t) => sum + weights[t * count + s]!, 0) / count);
  const best = largest(means);
  return means[best]! >= MOSTLY ? `mostly “${shown(pieces[best]!)}”` : "various words";
}

function AskMixing(told: Told) {
  const { layers, heads } = told.model.header;
  const [silent, setSilent] = useState(`${LAYER}.0`);
  const without = (head: string): Told => rerun(told, told.pieces, { silent: head });
  const stays = largest(classesOf(without(`${LAYER}.0`))) === largest(classesOf(told));
  const all = Array.from({ length: layers * heads }, (_, i) => `${Math.floor(i / heads)}.${i % heads}`);
  return (
    <NowYou question={`silence head 0 of layer ${LAYER}. Does the answer change?`} options={["it changes", "it stays"]} right={stays ? 1 : 0}>
      <label>
        without{" "}
        <select value={silent} onChange={(event) => setSilent(event.currentTarget.value)}>
          {all.map((one) => (
            <option value={one}>layer {one.replace(".", ", head ")}</option>
          ))}
        </select>
      </label>
      <p>
        {answerOf(without(silent))}; with all heads: {answerOf(told)}.
      </p>
    </NowYou>
  );
}
