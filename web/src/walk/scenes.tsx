// The eight scenes: one sentence, one picture with numbers of this sentence, one question.
import type { ComponentType } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { change } from "../shared/place";
import type { Arrays } from "../shared/wire";
import { forward, softmax, type Piece, type Values } from "./forward";
import { Bar, NowYou, Number_, short, Small, Strip, useOpened } from "./parts";
import type { Walk } from "./types";

export interface Told {
  model: Arrays<Walk>;
  text: string;
  pieces: Piece[];
  values: Values;
  asks: number; // the piece whose row is looked at
}

const LAYER = 1; // the head that links words: head 0 of the last layer
const SHOWN = 8; // numbers of a vector that are written out
const shown = (piece: Piece): string => (piece.inside ? `…${piece.text}` : piece.text);
const row = (values: Float32Array, t: number, width: number): Float32Array => values.slice(t * width, (t + 1) * width);
const scoresOf = ({ values, pieces, asks }: Told): Float32Array => row(values[`layers.${LAYER}.attention.scores`]!, asks, pieces.length);
const sharesOf = ({ values, pieces, asks }: Told): Float32Array => row(values[`layers.${LAYER}.attention.weights`]!, asks, pieces.length);
const largest = (list: ArrayLike<number>): number => Array.from(list).indexOf(Math.max(...Array.from(list)));

/** The words of the sentence; a click chooses who asks. */
function Words({ told, shares }: { told: Told; shares?: Float32Array }) {
  return (
    <ol class="walk-pieces">
      {told.pieces.map((piece, t) => (
        <li>
          <button type="button" class="walk-piece" aria-pressed={t === told.asks} onClick={() => change({ q: String(t) }, "replace")}>
            {shown(piece)}
          </button>
          {shares && <Bar share={shares[t]!} />}
        </li>
      ))}
    </ol>
  );
}

/** Links from the word that asks to those it looks at, over the words themselves. */
function Links({ shares, asks }: { shares: Float32Array; asks: number }) {
  const own = useRef<SVGSVGElement>(null);
  const [paths, setPaths] = useState<{ d: string; share: number }[]>([]);
  const [height, setHeight] = useState(0);
  useLayoutEffect(() => {
    const measure = () => {
      const box = own.current!.getBoundingClientRect();
      const chips = [...own.current!.parentElement!.querySelectorAll(".walk-piece")].map((chip) => chip.getBoundingClientRect());
      const at = (one: DOMRect): [number, number] => [one.left + one.width / 2 - box.left, one.top - box.top];
      const [x, y] = at(chips[asks]!);
      setHeight(own.current!.parentElement!.clientHeight);
      setPaths(
        chips.flatMap((chip, s) => {
          const [left, top] = at(chip);
          const lift = Math.min(y, top) - Math.min(60, 18 + Math.abs(left - x) / 6);
          return s === asks || shares[s]! < 0.02 ? [] : [{ d: `M${x},${y} C${x},${lift} ${left},${lift} ${left},${top}`, share: shares[s]! }];
        }),
      );
    };
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(own.current!.parentElement!);
    return () => watch.disconnect();
  }, [shares, asks]);
  return (
    <svg class="walk-links" ref={own} height={height} aria-hidden="true">
      {paths.map(({ d, share }) => (
        <path d={d} stroke-width={1 + 7 * share} stroke-opacity={0.25 + 0.75 * share} />
      ))}
    </svg>
  );
}

function Glance(told: Told) {
  const [opened, open] = useOpened();
  const [shares, scores] = [sharesOf(told), scoresOf(told)];
  const order = told.pieces.map((_, s) => s).sort((one, other) => shares[other]! - shares[one]!).slice(0, 4);
  return (
    <>
      <div class="walk-glance">
        <Links shares={shares} asks={told.asks} />
        <Words told={told} shares={shares} />
      </div>
      <p class="walk-says">
        “{shown(told.pieces[told.asks]!)}” looks at{" "}
        {order.map((s, place) => (
          <>
            {place > 0 && ", "}“{shown(told.pieces[s]!)}”{" "}
            <Number_ value={shares[s]!} label={`share of ${told.pieces[s]!.text}`} open={() => open(<>{shareLine(scores, s)}</>)} />
          </>
        ))}
        . The answer: <b>{answerOf(told)}</b>.
      </p>
      {opened}
    </>
  );
}

function shareLine(scores: Float32Array, s: number): string {
  const sum = scores.reduce((total, one) => total + Math.exp(one), 0);
  return `share = exp(score) / sum of exp over all ${scores.length} pieces = exp(${short(scores[s]!)}) / ${sum.toPrecision(4)} = ${softmax(scores, scores.length)[s]!.toPrecision(4)}`;
}

function answerOf({ model, values }: Told): string {
  const shares = softmax(values["head.logits"]!, model.header.labels.length);
  const best = largest(shares);
  return `${model.header.labels[best]}, ${(100 * shares[best]!).toFixed(1)} %`;
}

function Pieces({ model, pieces }: Told) {
  const [opened, open] = useOpened();
  return (
    <>
      <ol class="walk-pieces">
        {pieces.map((piece) => (
          <li>
            <span class="walk-piece still">{shown(piece)}</span>
            <button type="button" class="door" aria-label={`${piece.text}: number ${piece.id}`} onClick={() => open(<>“{piece.text}” is entry {piece.id} of a list of {model.header.vocab.length.toLocaleString("en")} pieces{piece.inside ? "; the dots say that it continues a word" : ""}.</>)}>
              {piece.id}
            </button>
          </li>
        ))}
      </ol>
      {opened}
    </>
  );
}

function Vectors(told: Told) {
  const [opened, open] = useOpened();
  const width = told.model.header.d_model;
  const [token, place, sum] = ["embeddings.token", "embeddings.position", "x"].map((name) => row(told.values[name]!, told.asks, width)) as [Float32Array, Float32Array, Float32Array];
  const add = (i: number) => open(<>{`number ${i}: ${short(token[i]!)} (the piece) + ${short(place[i]!)} (place ${told.asks}) = ${short(sum[i]!)}`}</>);
  return (
    <>
      <Words told={told} />
      <div class="wide" tabIndex={0} role="group" aria-label="vectors">
        <table class="walk-strips"><tbody>
          <Strip name={`“${told.pieces[told.asks]!.text}”`} values={token.slice(0, SHOWN)} open={add} />
          <Strip name={`+ place ${told.asks}`} values={place.slice(0, SHOWN)} open={add} />
          <Strip name="= its vector (x)" values={sum.slice(0, SHOWN)} open={add} />
        </tbody></table>
      </div>
      <p class="note">The first {SHOWN} of {width} numbers. Below: all vectors of the sentence, one row for each piece.</p>
      <Small values={told.values.x!} columns={width} signed label="the vectors of all pieces" />
      {opened}
    </>
  );
}

function Roles(told: Told) {
  const [opened, open] = useOpened();
  const { d_model: width, heads } = told.model.header;
  const x = row(told.values["layers.0.out"]!, told.asks, width);
  const explain = (role: string, i: number) => {
    const weight = told.model.arrays[`layers.${LAYER}.attention.W_${role.toUpperCase()}`]!.data;
    const bias = told.model.arrays[`layers.${LAYER}.attention.b_${role.toUpperCase()}`]!.data[i]!;
    const terms = Array.from(x, (one, d) => ({ one, by: weight[d * width + i]! })).sort((a, b) => Math.abs(b.one * b.by) - Math.abs(a.one * a.by));
    const value = terms.reduce((sum, { one, by }) => sum + one * by, bias);
    open(<>{`${role}[${i}] = ${terms.slice(0, 3).map(({ one, by }) => `${short(one)}·${short(by)}`).join(" + ")} + … ${width - 3} more products + ${short(bias)} = ${short(value)}`}</>);
  };
  const names: [string, string][] = [["q", "what I ask (query, q)"], ["k", "what I offer (key, k)"], ["v", "what I say (value, v)"]];
  return (
    <>
      <Words told={told} />
      <div class="wide" tabIndex={0} role="group" aria-label="query, key and value">
        <table class="walk-strips"><tbody>
          {names.map(([role, words]) => (
            <Strip name={words} values={row(told.values[`layers.${LAYER}.attention.${role}`]!, told.asks, width).slice(0, width / heads)} open={(i) => explain(role, i)} />
          ))}
        </tbody></table>
      </div>
      <p class="note">Layer {LAYER}, head 0, piece “{told.pieces[told.asks]!.text}”. Each row is the vector that enters the layer times a matrix of {width} × {width / heads} numbers.</p>
      {opened}
    </>
  );
}

function Scores(told: Told) {
  const [opened, open] = useOpened();
  const [scores, shares] = [scoresOf(told), sharesOf(told)];
  const width = told.model.header.d_model / told.model.header.heads;
  const order = told.pieces.map((_, s) => s).sort((one, other) => scores[other]! - scores[one]!).slice(0, 10).sort((a, b) => a - b);
  return (
    <>
      <Words told={told} />
      <table class="walk-rows">
        <thead>
          <tr><th scope="col">“{told.pieces[told.asks]!.text}” asks</th><th scope="col">score q·k/√{width}</th><th scope="col">share</th><th scope="col"><span class="unseen">share as a bar</span></th></tr>
        </thead>
        <tbody>{order.map((s) => (
          <tr>
            <th scope="row">{shown(told.pieces[s]!)}</th>
            <td><Number_ value={scores[s]!} label={`score of ${told.pieces[s]!.text}`} open={() => open(<>{`score = q·k / √${width} = ${short(scores[s]! * Math.sqrt(width))} / ${short(Math.sqrt(width))} = ${short(scores[s]!)}`}</>)} /></td>
            <td><Number_ value={shares[s]!} label={`share of ${told.pieces[s]!.text}`} open={() => open(<>{shareLine(scores, s)}</>)} /></td>
            <td><Bar share={shares[s]!} /></td>
          </tr>
        ))}</tbody>
      </table>
      {opened}
    </>
  );
}

function SetScore(told: Told) {
  const scores = scoresOf(told);
  const best = largest(scores);
  const other = told.pieces.findIndex((_, s) => s !== best);
  const [value, setValue] = useState(5);
  if (other < 0) return null;
  const after = softmax(scores.map((one, s) => (s === other ? value : one)), scores.length);
  return (
    <NowYou question={`set the score of “${told.pieces[other]!.text}” to 5: what happens to the others?`}>
      <label>
        score <input type="range" min={-10} max={15} step={0.5} value={value} onInput={(event) => setValue(Number(event.currentTarget.value))} /> {value}
      </label>
      <p>“{told.pieces[other]!.text}” gets {short(after[other]!)}; “{told.pieces[best]!.text}” falls from {short(sharesOf(told)[best]!)} to {short(after[best]!)}. The shares always add to 1.</p>
    </NowYou>
  );
}

function Mixing(told: Told) {
  const [opened, open] = useOpened();
  const { d_model: width, heads, layers } = told.model.header;
  const [shares, count, size] = [sharesOf(told), told.pieces.length, width / heads];
  const v = (s: number) => row(told.values[`layers.${LAYER}.attention.v`]!, s, width).slice(0, size);
  const mix = row(told.values[`layers.${LAYER}.attention.mix`]!, told.asks, width).slice(0, size);
  const order = told.pieces.map((_, s) => s).sort((one, other) => shares[other]! - shares[one]!).slice(0, 3);
  const explain = (i: number) => open(<>{`mix[${i}] = ${order.map((s) => `${short(shares[s]!)}·${short(v(s)[i]!)}`).join(" + ")}${count > 3 ? ` + ${count - 3} smaller` : ""} = ${short(mix[i]!)}`}</>);
  return (
    <>
      <div class="wide" tabIndex={0} role="group" aria-label="values and their mix">
        <table class="walk-strips"><tbody>
          {order.map((s) => <Strip name={`${short(shares[s]!)} × “${told.pieces[s]!.text}”`} values={v(s)} open={explain} />)}
          <Strip name="= the mix" values={mix} open={explain} />
        </tbody></table>
      </div>
      <p class="note">All heads of this encoder: a row asks, a column is looked at.</p>
      <ol class="walk-heads">
        {Array.from({ length: layers * heads }, (_, i) => [Math.floor(i / heads), i % heads] as const).map(([layer, head]) => (
          <li>
            <Small values={told.values[`layers.${layer}.attention.weights`]!.slice(head * count * count, (head + 1) * count * count)} columns={count} label={`layer ${layer}, head ${head}`} />
            <span class="note">layer {layer}, head {head}</span>
          </li>
        ))}
      </ol>
      {opened}
    </>
  );
}

function Silence(told: Told) {
  const { layers, heads, labels } = told.model.header;
  const [silent, setSilent] = useState(`${LAYER}.0`);
  const after = forward(told.model, told.pieces.map(({ id }) => id), { silent });
  const all = Array.from({ length: layers * heads }, (_, i) => `${Math.floor(i / heads)}.${i % heads}`);
  return (
    <NowYou question="silence a head: does the answer change?">
      <label>
        head{" "}
        <select value={silent} onChange={(event) => setSilent(event.currentTarget.value)}>
          {all.map((one) => <option value={one}>layer {one.replace(".", ", head ")}</option>)}
        </select>
      </label>
      <p>Without it: {answerOf({ ...told, values: after })}. With it: {answerOf(told)}. {labels.length} classes share 100 %.</p>
    </NowYou>
  );
}

const STAGES: [string, string][] = [["x", "before the first layer"], ["layers.0.attention.out", "layer 0: what attention adds"], ["layers.0.norm_1", "layer 0: added and normalised"], ["layers.0.out", "layer 0: after the feed-forward block"], ["layers.1.norm_1", "layer 1: added and normalised"], ["layers.1.out", "layer 1: after the feed-forward block"]];

function Rest(told: Told) {
  const [opened, open] = useOpened();
  const [depth, setDepth] = useState(0);
  const [name, words] = STAGES[depth]!;
  const width = told.model.header.d_model;
  const values = row(told.values[name]!, told.asks, width);
  const mean = values.reduce((sum, one) => sum + one, 0) / width;
  const spread = Math.sqrt(values.reduce((sum, one) => sum + (one - mean) ** 2, 0) / width);
  return (
    <>
      <label class="walk-depth">
        depth <input type="range" min={0} max={STAGES.length - 1} value={depth} onInput={(event) => setDepth(Number(event.currentTarget.value))} /> <b>{words}</b>
      </label>
      <div class="walk-rest">
        <ol class="walk-names">{told.pieces.map((piece) => <li>{shown(piece)}</li>)}</ol>
        <Small values={told.values[name]!} columns={width} signed label={`the sentence ${words}`} />
      </div>
      <p>“{told.pieces[told.asks]!.text}”: mean <Number_ value={mean} label="mean" open={() => open(<>{`mean of ${width} numbers = ${mean.toPrecision(4)}`}</>)} />, spread <Number_ value={spread} label="spread" open={() => open(<>{`√(mean of squared distances from the mean) = ${spread.toPrecision(4)}. Normalising makes this about 1, then scales each number.`}</>)} />.</p>
      {opened}
    </>
  );
}

function Answer(told: Told) {
  const [opened, open] = useOpened();
  const { d_model: width, labels } = told.model.header;
  const logits = told.values["head.logits"]!;
  const shares = softmax(logits, labels.length);
  const weight = told.model.arrays["head.W_C"]!.data;
  const last = told.values["layers.1.out"]!;
  const bias = told.model.arrays["head.b_C"]!.data;
  const given = told.pieces.map((_, t) => row(last, t, width).reduce((sum, one, d) => sum + (one * (weight[d * 2 + 1]! - weight[d * 2]!)) / told.pieces.length, 0));
  const top = Math.max(...given.map(Math.abs), 1e-9);
  return (
    <>
      {labels.map((label, place) => (
        <p class="walk-class">
          <span>{label}</span> <Bar share={shares[place]!} /> <Number_ value={shares[place]!} label={label} open={() => open(<>{`${label} = exp(${short(logits[place]!)}) / (${labels.map((_, i) => `exp(${short(logits[i]!)})`).join(" + ")}) = ${shares[place]!.toPrecision(4)}`}</>)} />
        </p>
      ))}
      <p class="note">What each piece adds to “{labels[1]}” minus “{labels[0]}”; with {short(bias[1]! - bias[0]!)} from the bias they add to {short(logits[1]! - logits[0]!)}.</p>
      <ol class="walk-pieces">
        {told.pieces.map((piece, t) => (
          <li>
            <span class="walk-piece still" style={{ borderColor: given[t]! > 0 ? "var(--part-embedding)" : "var(--part-attention)", borderWidth: `${1 + (4 * Math.abs(given[t]!)) / top}px` }}>{shown(piece)}</span>
            <Number_ value={given[t]!} label={`from ${piece.text}`} open={() => open(<>{`“${piece.text}” adds ${given[t]!.toPrecision(4)}: its last vector times the difference of the two rows of the map, divided by ${told.pieces.length} pieces`}</>)} />
          </li>
        ))}
      </ol>
      {opened}
    </>
  );
}

interface Scene {
  title: string;
  words: string;
  picture: ComponentType<Told>;
  now: ComponentType<Told>;
}

export const SCENES: Scene[] = [
  { title: "At a glance", words: "A Transformer lets every word look at every other word and decide what matters.", picture: Glance, now: (told) => <NowYou question={`which word does “${told.pieces[told.asks]!.text}” look at most? In the first example, change “tired” to “wide”.`}>“{told.pieces[largest(sharesOf(told))]!.text}”, with a share of {short(Math.max(...sharesOf(told)))}.</NowYou> },
  { title: "Pieces", words: "Words become pieces from a fixed list, and each piece is a number.", picture: Pieces, now: ({ pieces, text }) => <NowYou question="how many pieces does your sentence have?">{text.split(/\s+/).filter(Boolean).length} words between spaces become {pieces.length} pieces. A rare word falls into several.</NowYou> },
  { title: "Vectors", words: "Each piece becomes a list of numbers; its place in the sentence is added.", picture: Vectors, now: (told) => <NowYou question="would two equal words have equal vectors without places?">Yes: the list depends on the piece alone. With places added, {told.pieces.some((one, t) => told.pieces.findIndex(({ id }) => id === one.id) < t) ? "the repeated piece in your sentence gets two different vectors" : "a piece that occurs twice gets two different vectors"}.</NowYou> },
  { title: "Three roles", words: "From each vector come three: what I ask, what I offer, what I say.", picture: Roles, now: ({ pieces, model: { header } }) => <NowYou question="what is the shape of k for the whole sentence, in one head?">{pieces.length} × {header.d_model / header.heads}: one row for each piece.</NowYou> },
  { title: "Scores", words: "A question times an offer is a score; softmax turns a row of scores into shares that add to 1.", picture: Scores, now: SetScore },
  { title: "Mixing", words: "The new vector is a mix of what the others say, by those shares; several heads do it at once.", picture: Mixing, now: Silence },
  { title: "The rest of the layer", words: "Add, normalise, transform each word alone; then again, layer after layer.", picture: Rest, now: ({ model: { header } }) => <NowYou question="how many parameters are in what you just saw?">{header.parameters.toLocaleString("en")}, most of them ({(header.vocab.length * header.d_model).toLocaleString("en")}) in the table of pieces.</NowYou> },
  { title: "The answer", words: "A last map turns the mean of the vectors into the answer.", picture: Answer, now: (told) => <NowYou question="change one word in the box above until the answer flips.">Now it is {answerOf(told)}. Try to replace the piece with the largest number.</NowYou> },
];
