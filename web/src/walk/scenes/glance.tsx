// Scene 1: who looks at whom, the way of the words through the layers, and the answer.
import { useState } from "preact/hooks";
import { change } from "../../shared/place";
import { Arcs } from "../Arcs";
import { softmax } from "../forward";
import { Flow } from "../Flow";
import { Bar, NowYou, Number_, short, useOpened } from "../parts";
import { byLargest, classesOf, isAsked, largest, meanWeights, row, runOn, scoresOf, sharesOf, shown, type Told } from "../told";
import { Words } from "../Words";

export const CLASS_COLOURS = ["var(--part-attention)", "var(--part-embedding)"];

const FEW = 8; // so many pieces are written larger

export function Glance(given: Told) {
  const [opened, open] = useOpened();
  const [looked, look] = useState<number | null>(null);
  const [played, play] = useState(0);
  const told = looked === null ? given : { ...given, asks: looked };
  const [shares, scores] = [sharesOf(told), scoresOf(told)];
  return (
    <>
      <div class={told.pieces.length <= FEW ? "walk-picture walk-glance few" : "walk-picture walk-glance"}>
        <Arcs shares={shares} asks={told.asks} />
        <Words told={told} shares={shares} look={look} />
        <Flow told={told} key={played} />
        <p class="note">
          Point at a word, or tap it. The arcs are one attention head of the last layer, which was trained to link a word with the word that it is about; the lines below are the mean of all heads
          of each layer.{" "}
          <button type="button" class="quiet walk-play" onClick={() => play(played + 1)}>
            play again
          </button>
        </p>
      </div>
      <div class="walk-side">
        <div class="walk-says">
          <p>“{shown(told.pieces[told.asks]!)}” looks at </p>
          <ol class="walk-bars">
            {byLargest(shares).slice(0, 3).map((s) => (
              <li>
                <span>“{shown(told.pieces[s]!)}”</span> <Bar share={shares[s]!} /> <Number_ value={shares[s]!} label={`share of ${told.pieces[s]!.text}`} open={() => open(<>{shareLine(scores, s)}</>)} />
              </li>
            ))}
          </ol>
          <Before told={told} open={open} />
          <p>Is the sentence positive or negative? </p>
          <Classes told={given} open={open} />
        </div>
        {opened}
        <AskGlance {...given} />
      </div>
    </>
  );
}

/** Where the word got what it knows: the piece that it took most from in the first layer. */
function Before({ told, open }: { told: Told; open: (line: string) => void }) {
  const count = told.pieces.length;
  const taken = row(meanWeights(told, 0), told.asks, count);
  const best = byLargest(taken).find((s) => s !== told.asks);
  if (best === undefined) return null;
  const { heads } = told.model.header;
  const each = Array.from({ length: heads }, (_, head) => short(told.values["layers.0.attention.weights"]![(head * count + told.asks) * count + best]!));
  return (
    <p class="note">
      Before that, in layer 0, it took most from “{shown(told.pieces[best]!)}”{" "}
      <Number_ value={taken[best]!} label={`mean share of ${told.pieces[best]!.text} in layer 0`} open={() => open(`mean of ${heads} heads = (${each.join(" + ")}) / ${heads} = ${taken[best]!.toPrecision(4)}`)} />.
    </p>
  );
}

/** A bar for each class. */
export function Classes({ told, open }: { told: Told; open: (line: string) => void }) {
  const { labels } = told.model.header;
  const [shares, logits] = [classesOf(told), told.values["head.logits"]!];
  const sum = labels.map((_, i) => `exp(${short(logits[i]!)})`).join(" + ");
  return (
    <ol class="walk-bars">
      {labels.map((label, place) => (
        <li class="walk-class">
          <span>{label}</span> <Bar share={shares[place]!} colour={CLASS_COLOURS[place]} />{" "}
          <Number_ value={shares[place]!} label={label} open={() => open(`${label} = exp(${short(logits[place]!)}) / (${sum}) = ${shares[place]!.toPrecision(4)}`)} />
        </li>
      ))}
    </ol>
  );
}

export function shareLine(scores: Float32Array, s: number): string {
  const sum = scores.reduce((total, one) => total + Math.exp(one), 0);
  return `share = exp(score) / sum of exp over all ${scores.length} pieces = exp(${short(scores[s]!)}) / ${sum.toPrecision(4)} = ${softmax(scores, scores.length)[s]!.toPrecision(4)}`;
}

/** The first example has a twin with another end; of another sentence, another word is asked. */
function AskGlance(told: Told) {
  const twin = told.text === told.model.header.examples[0] ? told.text.replace("tired", "wide") : told.text;
  const changed = twin !== told.text;
  const after = changed ? runOn(told, twin) : { ...told, asks: busiest(told) };
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
        show it in the picture
      </button>
    </NowYou>
  );
}

/** Some pieces to choose from, in their order: those given, and the words with the largest shares. */
function likely(told: Told, given: number[]): string[] {
  const words = byLargest(sharesOf(told)).filter((s) => /[\p{L}\p{N}]/u.test(told.pieces[s]!.text));
  const places = [...new Set([...given, ...words])].slice(0, 4).sort((one, other) => one - other);
  return [...new Set(places.map((s) => shown(told.pieces[s]!)))];
}

/** The piece, other than the one that asks, whose largest share on another is the largest; a whole word that is there once, where there is one. */
function busiest(told: Told): number {
  const elsewhere = (t: number) => Math.max(...sharesOf({ ...told, asks: t }).map((share, s) => (s === t ? 0 : share)));
  const once = (t: number) => told.pieces.filter(({ id }) => id === told.pieces[t]!.id).length === 1;
  const most = told.pieces.map((_, t) => (t === told.asks ? -1 : (isAsked(told.pieces, t) && once(t) ? 1 : 0) + elsewhere(t)));
  return told.pieces.length > 1 ? largest(most) : told.asks;
}
