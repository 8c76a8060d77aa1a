// The questions of the scenes: predict, then see. Every answer is computed from this sentence.
import { useState } from "preact/hooks";
import { change } from "../shared/place";
import { forward, pieces as piecesOf, softmax } from "./forward";
import { NowYou, short } from "./parts";
import { answerOf, isWord, LAYER, largest, scoresOf, sharesOf, shown, type Told } from "./told";

const MOST_TRIED = 400; // words tried until the answer flips

const sized = (count: number): string => count.toLocaleString("en");
const vocabOf = ({ model }: Told): Map<string, number> => new Map(model.header.vocab.map((piece, id) => [piece, id]));
const run = (told: Told, text: string): Told => {
  const pieces = piecesOf(text, vocabOf(told));
  return { ...told, text, pieces, values: forward(told.model, pieces.map(({ id }) => id)) };
};

/** The first example has a twin with another end; of another sentence, another word is asked. */
export function AskGlance(told: Told) {
  const twin = told.text === told.model.header.examples[0] ? told.text.replace("tired", "wide") : told.text;
  const changed = twin !== told.text;
  const after = changed ? run(told, twin) : { ...told, asks: busiest(told) };
  const shares = sharesOf(after);
  const best = shown(after.pieces[largest(shares)]!);
  const options = likely(after, [largest(shares), largest(sharesOf(told))]);
  const question = changed ? "change “tired” to “wide”. Which word does “it” look at then?" : `which word does “${shown(after.pieces[after.asks]!)}” look at most?`;
  return (
    <NowYou question={question} options={options} right={options.indexOf(best)}>
      <p>
        “{best}” gets a share of {short(Math.max(...shares))}.
      </p>
      <button type="button" onClick={() => change(changed ? { text: twin, q: null } : { q: String(after.asks) }, "replace")}>
        show it above
      </button>
    </NowYou>
  );
}

/** Some pieces to choose from, in their order: those given, and the words with the largest shares. */
function likely(told: Told, given: number[]): string[] {
  const shares = sharesOf(told);
  const words = told.pieces.map((_, s) => s).filter((s) => /[\p{L}\p{N}]/u.test(told.pieces[s]!.text));
  const order = words.sort((one, other) => shares[other]! - shares[one]!);
  const places = [...new Set([...given, ...order])].slice(0, 4).sort((one, other) => one - other);
  return [...new Set(places.map((s) => shown(told.pieces[s]!)))];
}

/** The piece, other than the one that asks, whose largest share is the largest; a whole word where there is one. */
function busiest(told: Told): number {
  const most = told.pieces.map((_, t) => (t === told.asks ? -1 : (isWord(told.pieces, t) ? 1 : 0) + Math.max(...sharesOf({ ...told, asks: t }))));
  return told.pieces.length > 1 ? largest(most) : told.asks;
}

export function AskPieces(told: Told) {
  const words = told.text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [told.text];
  const longest = words.reduce((best, word) => (word.length > best.length ? word : best));
  const found = piecesOf(longest, vocabOf(told));
  return (
    <NowYou question={`into how many pieces is “${longest}” split?`} options={["1", "2", "3", "more"]} right={Math.min(found.length, 4) - 1}>
      <p>
        {found.map((piece) => `“${shown(piece)}”`).join(" ")}. Frequent words are in the list as they are; a rare word is built from several pieces.
      </p>
    </NowYou>
  );
}

export function AskVectors(told: Told) {
  const twice = told.pieces.findIndex((one, t) => told.pieces.findIndex(({ id }) => id === one.id) < t);
  const word = twice < 0 ? "two equal words" : `the two “${shown(told.pieces[twice]!)}”`;
  return (
    <NowYou question={`without places, would ${word} have the same vector?`} options={["the same", "different ones"]} right={0}>
      <p>The list of numbers depends on the piece alone. The place makes the two different.</p>
    </NowYou>
  );
}

export function AskRoles({ pieces, model: { header } }: Told) {
  const size = header.d_model / header.heads;
  const shape = (rows: number, columns: number) => `${rows} × ${columns}`;
  return (
    <NowYou question="what is the shape of k for the whole sentence, in one head?" options={[shape(header.d_model, size), shape(pieces.length, size), shape(pieces.length, header.d_model)]} right={1}>
      <p>One row for each of the {pieces.length} pieces, {size} numbers in each.</p>
    </NowYou>
  );
}

const SET = 5; // what the question sets a score to

export function AskScores(told: Told) {
  const scores = scoresOf(told);
  const best = largest(scores);
  const other = told.pieces.findIndex((_, s) => s !== best);
  const [value, setValue] = useState(SET);
  if (other < 0) return null;
  const name = shown(told.pieces[other]!);
  const set = (to: number) => softmax(scores.map((one, s) => (s === other ? to : one)), scores.length);
  const after = set(value);
  const before = sharesOf(told);
  return (
    <NowYou question={`set the score of “${name}” to ${SET}. What happens to the other shares?`} options={["they fall", "they stay", "they rise"]} right={set(SET)[other]! > before[other]! ? 0 : 2}>
      <label>
        score <input type="range" min={-10} max={15} step={0.5} value={value} onInput={(event) => setValue(Number(event.currentTarget.value))} /> {value}
      </label>
      <p>
        “{name}” goes from {short(before[other]!)} to {short(after[other]!)}, “{shown(told.pieces[best]!)}” from {short(before[best]!)} to {short(after[best]!)}. The shares always add to 1.
      </p>
    </NowYou>
  );
}

export function AskMixing(told: Told) {
  const { layers, heads } = told.model.header;
  const [silent, setSilent] = useState(`${LAYER}.0`);
  const without = (head: string): string => answerOf({ ...told, values: forward(told.model, told.pieces.map(({ id }) => id), { silent: head }) });
  const same = (one: string, other: string) => one.split(",")[0] === other.split(",")[0];
  const all = Array.from({ length: layers * heads }, (_, i) => `${Math.floor(i / heads)}.${i % heads}`);
  return (
    <NowYou question={`silence head 0 of layer ${LAYER}. Does the answer change?`} options={["it changes", "it stays"]} right={same(without(`${LAYER}.0`), answerOf(told)) ? 1 : 0}>
      <label>
        without{" "}
        <select value={silent} onChange={(event) => setSilent(event.currentTarget.value)}>
          {all.map((one) => (
            <option value={one}>layer {one.replace(".", ", head ")}</option>
          ))}
        </select>
      </label>
      <p>
        {without(silent)}; with all heads: {answerOf(told)}.
      </p>
    </NowYou>
  );
}

export function AskRest({ model: { arrays, header } }: Told) {
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

export function AskAnswer(told: Told) {
  const [hint, setHint] = useState("");
  const flip = () => {
    const found = flipped(told);
    if (found) change({ text: found, q: null }, "replace");
    else setHint("No single replacement of the last word does it here: change another word, or two.");
  };
  return (
    <section class="walk-now" aria-label="now you">
      <p>
        <b>Now you:</b> change one word in the box above until the answer flips. It is {answerOf(told)}.
      </p>
      <p class="walk-options">
        <button type="button" onClick={flip}>
          show me one
        </button>
      </p>
      <div role="status">{hint}</div>
    </section>
  );
}

/** The sentence with one word replaced by a frequent one of the same script, such that the answer is another one. */
function flipped(told: Told): string | null {
  const logits = (one: Told) => one.values["head.logits"]!;
  const now = largest(logits(told));
  const words = told.text.match(/[\p{L}\p{M}]+/gu) ?? [];
  const last = words.at(-1) ?? "";
  const script = /\p{Script=Latin}/u.test(last) ? /^[a-z]{3,}$/ : /^[^\x00-\u036f#]{2,}$/u;
  const at = told.text.lastIndexOf(last);
  for (const word of told.model.header.vocab.filter((piece) => script.test(piece)).slice(0, MOST_TRIED)) {
    const text = told.text.slice(0, at) + word + told.text.slice(at + last.length);
    if (largest(logits(run(told, text))) !== now) return text;
  }
  return null;
}
