// Scene 7: what else a layer does, and the sentence at every depth.
import { useState } from "preact/hooks";
import { Laid, NowYou, Number_, Sentence, useOpened } from "../parts";
import { row, shown, type Told } from "../told";

interface Stage {
  tensor: string; // after layers.N.
  title: string;
  part: string; // its colour
  words: string;
}

const STAGES: Stage[] = [
  { tensor: "attention.out", title: "attention", part: "attention", words: "What each word gathered from the others: the mixes of all heads, put together by one more matrix." },
  { tensor: "norm_1", title: "add & norm", part: "norm", words: "Each word keeps what it was and adds what it gathered; then its numbers are brought to mean 0 and spread 1, and scaled by learned factors." },
  { tensor: "ffn.out", title: "feed-forward", part: "feed-forward", words: "Each word alone passes two matrices; between them, every negative number becomes 0." },
  { tensor: "out", title: "add & norm", part: "norm", words: "Again added to what the word was, and normalised: this is the output of the layer." },
];

export function Rest(told: Told) {
  const [opened, open] = useOpened();
  const { layers, d_model: width } = told.model.header;
  const start = { layer: -1, name: "x", title: "vectors", part: "embedding", words: "The vectors of the pieces and their places, before the first layer." };
  const stages = [start, ...Array.from({ length: layers }, (_, layer) => STAGES.map((one) => ({ ...one, layer, name: `layers.${layer}.${one.tensor}` }))).flat()];
  const [depth, setDepth] = useState(0);
  const { name, words } = stages[depth]!;
  const values = row(told.values[name]!, told.asks, width);
  const mean = values.reduce((sum, one) => sum + one, 0) / width;
  const spread = Math.sqrt(values.reduce((sum, one) => sum + (one - mean) ** 2, 0) / width);
  return (
    <Laid opened={opened} ask={<AskRest {...told} />}>
      <div class="walk-depth" role="group" aria-label="the steps of the layers">
        {stages.map((stage, place) => (
          <>
            {place % STAGES.length === 1 && <span class="note">layer {stage.layer}</span>}
            <button type="button" aria-pressed={place === depth} style={{ "--part": `var(--part-${stage.part})`, "--rows": place === 0 ? layers : 1 }} onClick={() => setDepth(place)}>
              {stage.title}
            </button>
          </>
        ))}
      </div>
      <p class="walk-stage">{words}</p>
      <Sentence names={told.pieces.map(shown)} values={told.values[name]!} width={width} asks={told.asks} label={`the sentence: ${words}`} />
      <p>
        “{shown(told.pieces[told.asks]!)}” has {width} numbers here, mean <Number_ value={mean} label="mean" open={() => open(<>{`mean of ${width} numbers = ${mean.toPrecision(4)}`}</>)} />, spread{" "}
        <Number_ value={spread} label="spread" open={() => open(<>{`spread = √(mean of squared distances from the mean) = ${spread.toPrecision(4)}`}</>)} />.
      </p>
    </Laid>
  );
}

const sized = (count: number): string => count.toLocaleString("en");

function AskRest({ model: { arrays, header } }: Told) {
  const sizes = Object.entries(arrays).filter(([name]) => name.startsWith("layers.0.")).map(([, array]) => array.data.length);
  const layer = sizes.reduce((sum, size) => sum + size, 0);
  return (
    <NowYou question="how many learned numbers does one layer have?" options={[header.d_model ** 2, layer, header.parameters].map(sized)} right={1}>
      <p>
        Of {sized(header.parameters)} in all; {sized(header.vocab.length * header.d_model)} are the table of pieces.
      </p>
    </NowYou>
  );
}
