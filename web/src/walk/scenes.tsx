// The eight scenes: one sentence, one picture with numbers of this sentence, one question.
import type { ComponentChildren, ComponentType } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { exported } from "../shared/exported";
import { Go } from "../shared/Go";
import { change } from "../shared/place";
import * as ask from "./asks";
import { softmax, type Piece } from "./forward";
import { Bar, Key, Number_, short, Small, Strip, useOpened } from "./parts";
import { answerOf, LAYER, row, scoresOf, sharesOf, shown, traceOf, type Told } from "./told";

const SHOWN = 8; // numbers of a vector that are written out

interface WordsProps {
  told: Told;
  shares?: Float32Array;
  look?: (t: number | null) => void; // which word the mouse or the focus is on
  below?: (piece: Piece) => ComponentChildren;
}

/** The words of the sentence; a click chooses who asks. */
function Words({ told, shares, look, below }: WordsProps) {
  const unknown = told.model.header.vocab.indexOf("[UNK]");
  return (
    <ol class="walk-pieces">
      {told.pieces.map((piece, t) => (
        <li onMouseEnter={look && (() => look(t))} onMouseLeave={look && (() => look(null))}>
          <button
            type="button"
            class={piece.id === unknown ? "walk-piece unknown" : "walk-piece"}
            style={shares && { "--share": shares[t]! }}
            aria-pressed={t === told.asks}
            onFocus={look && (() => look(t))}
            onBlur={look && (() => look(null))}
            onClick={() => change({ q: String(t) }, "replace")}
          >
            {shown(piece)}
          </button>
          {shares && <Bar share={shares[t]!} />}
          {below?.(piece)}
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
          const lift = Math.min(y, top) - Math.min(84, 22 + Math.abs(left - x) / 5);
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
        <path key={`${asks} ${d}`} d={d} pathLength={1} stroke-width={1 + 9 * share} stroke-opacity={0.25 + 0.75 * share} />
      ))}
    </svg>
  );
}

function Glance(given: Told) {
  const [opened, open] = useOpened();
  const [looked, look] = useState<number | null>(null);
  const told = looked === null ? given : { ...given, asks: looked };
  const [shares, scores] = [sharesOf(told), scoresOf(told)];
  const order = told.pieces.map((_, s) => s).sort((one, other) => shares[other]! - shares[one]!).slice(0, 3);
  return (
    <>
      <div class="walk-glance">
        <Links shares={shares} asks={told.asks} />
        <Words told={told} shares={shares} look={look} />
        <p class="note">Point at a word, or tap it, to see which words it looks at: one attention head of the last layer.</p>
      </div>
      <div class="walk-after">
      <p class="walk-says">
        “{shown(told.pieces[told.asks]!)}” looks at{" "}
        {order.map((s, place) => (
          <>
            {place > 0 && ", "}“{shown(told.pieces[s]!)}”{" "}
            <Number_ value={shares[s]!} label={`share of ${told.pieces[s]!.text}`} open={() => open(<>{shareLine(scores, s)}</>)} />
          </>
        ))}
        . Asked whether the sentence is positive or negative, the model answers <b>{answerOf(told)}</b>.
      </p>
      {opened}
      </div>
    </>
  );
}

function shareLine(scores: Float32Array, s: number): string {
  const sum = scores.reduce((total, one) => total + Math.exp(one), 0);
  return `share = exp(score) / sum of exp over all ${scores.length} pieces = exp(${short(scores[s]!)}) / ${sum.toPrecision(4)} = ${softmax(scores, scores.length)[s]!.toPrecision(4)}`;
}

const NEAR = 4; // entries of the list shown on each side of a piece

function Pieces(told: Told) {
  const [opened, open] = useOpened();
  const { vocab } = told.model.header;
  const chosen = told.pieces[told.asks]!.id;
  const first = Math.max(0, Math.min(chosen - NEAR, vocab.length - 2 * NEAR - 1));
  const say = ({ text, id, inside }: Piece) => {
    if (vocab[id] === "[UNK]") return `“${text}” is not in the list: it becomes entry ${id}, “[UNK]”, which stands for everything unknown.`;
    return `“${text}” is entry ${id} of a list of ${vocab.length.toLocaleString("en")} pieces${inside ? "; the dots say that it continues a word" : ""}.`;
  };
  return (
    <>
      <Words
        told={told}
        below={(piece) => (
          <button type="button" class="door" aria-label={`${piece.text}: number ${piece.id}`} onClick={() => open(<>{say(piece)}</>)}>
            {piece.id}
          </button>
        )}
      />
      <p class="note">“{shown(told.pieces[told.asks]!)}” in the list of {vocab.length.toLocaleString("en")} pieces (## continues a word):</p>
      <ol class="walk-list">
        {vocab.slice(first, first + 2 * NEAR + 1).map((piece, place) => (
          <li class={first + place === chosen ? "chosen" : ""}>
            <span>{first + place}</span> {piece}
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
          <Strip name={`“${shown(told.pieces[told.asks]!)}”`} values={token.slice(0, SHOWN)} open={add} />
          <Strip name={`+ place ${told.asks}`} values={place.slice(0, SHOWN)} open={add} />
          <Strip name="= its vector (x)" values={sum.slice(0, SHOWN)} open={add} />
        </tbody></table>
      </div>
      <p class="note">The first {SHOWN} of {width} numbers. Below: all vectors of the sentence, one row for each piece.</p>
      <Small values={told.values.x!} columns={width} signed label="the vectors of all pieces" />
      <Key values={told.values.x!} />
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
  const size = width / heads;
  const matrix = (role: string) => {
    const weight = told.model.arrays[`layers.${LAYER}.attention.W_${role.toUpperCase()}`]!.data;
    return Float32Array.from({ length: width * size }, (_, i) => weight[Math.floor(i / size) * width + (i % size)]!);
  };
  return (
    <>
      <Words told={told} />
      <div class="wide" tabIndex={0} role="group" aria-label="query, key and value">
        <table class="walk-strips"><tbody>
          {names.map(([role, words]) => (
            <Strip
              name={
                <span class="walk-role">
                  {words}
                  <span class="walk-times">
                    = x · <Small values={matrix(role)} columns={size} signed label={`the matrix W_${role.toUpperCase()}, ${width} × ${size}`} /> =
                  </span>
                </span>
              }
              values={row(told.values[`layers.${LAYER}.attention.${role}`]!, told.asks, width).slice(0, size)}
              open={(i) => explain(role, i)}
            />
          ))}
        </tbody></table>
      </div>
      <p class="note">Layer {LAYER}, head 0. x is the vector of “{shown(told.pieces[told.asks]!)}” that enters the layer, {width} numbers; each map is a learned matrix of {width} × {size}; a bias is added.</p>
      {opened}
    </>
  );
}

/** The question of the piece that asks times the offer of another, product by product. */
function dotLine({ values, asks, model: { header } }: Told, s: number): string {
  const size = header.d_model / header.heads;
  const [q, k] = ["q", "k"].map((role, i) => row(values[`layers.${LAYER}.attention.${role}`]!, i ? s : asks, header.d_model)) as [Float32Array, Float32Array];
  const terms = Array.from({ length: size }, (_, i) => `${short(q[i]!)}·${short(k[i]!)}`);
  return `q·k = ${terms.join(" + ")} = ${short(terms.reduce((sum, _, i) => sum + q[i]! * k[i]!, 0))}`;
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
          <tr><th scope="col">“{shown(told.pieces[told.asks]!)}” asks</th><th scope="col">q·k</th><th scope="col">÷ √{width} = score</th><th scope="col">exp</th><th scope="col">÷ sum = share</th><th scope="col"><span class="unseen">share as a bar</span></th></tr>
        </thead>
        <tbody>{order.map((s) => (
          <tr>
            <th scope="row">{shown(told.pieces[s]!)}</th>
            <td><Number_ value={scores[s]! * Math.sqrt(width)} label={`q·k of ${told.pieces[s]!.text}`} open={() => open(<>{dotLine(told, s)}</>)} /></td>
            <td><Number_ value={scores[s]!} label={`score of ${told.pieces[s]!.text}`} open={() => open(<>{`score = q·k / √${width} = ${short(scores[s]! * Math.sqrt(width))} / ${short(Math.sqrt(width))} = ${short(scores[s]!)}`}</>)} /></td>
            <td>{short(Math.exp(scores[s]!))}</td>
            <td><Number_ value={shares[s]!} label={`share of ${told.pieces[s]!.text}`} open={() => open(<>{shareLine(scores, s)}</>)} /></td>
            <td><Bar share={shares[s]!} /></td>
          </tr>
        ))}</tbody>
      </table>
      {told.pieces.length > order.length && <p class="note">The {order.length} pieces with the largest scores, of {told.pieces.length}.</p>}
      {opened}
    </>
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
      <p class="note">All heads of this encoder: a row asks, a column is looked at; darker is a larger share.</p>
      <ol class="walk-heads">
        {Array.from({ length: layers * heads }, (_, i) => [Math.floor(i / heads), i % heads] as const).map(([layer, head]) => (
          <li>
            <Small values={told.values[`layers.${layer}.attention.weights`]!.slice(head * count * count, (head + 1) * count * count)} columns={count} label={`layer ${layer}, head ${head}`} />
            <span class="note">{exported ? `layer ${layer}, head ${head}` : <Go to={traceOf(told, layer, head)} title="open in Trace">layer {layer}, head {head}</Go>}</span>
          </li>
        ))}
      </ol>
      {opened}
    </>
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
      <Key values={told.values[name]!} />
      <p>“{shown(told.pieces[told.asks]!)}”: mean <Number_ value={mean} label="mean" open={() => open(<>{`mean of ${width} numbers = ${mean.toPrecision(4)}`}</>)} />, spread <Number_ value={spread} label="spread" open={() => open(<>{`√(mean of squared distances from the mean) = ${spread.toPrecision(4)}. Normalising makes this about 1, then scales each number.`}</>)} />.</p>
      {opened}
    </>
  );
}

const SIDES = ["var(--part-attention)", "var(--part-embedding)"]; // colours of the two answers

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
          <span>{label}</span> <Bar share={shares[place]!} colour={SIDES[place]} /> <Number_ value={shares[place]!} label={label} open={() => open(<>{`${label} = exp(${short(logits[place]!)}) / (${labels.map((_, i) => `exp(${short(logits[i]!)})`).join(" + ")}) = ${shares[place]!.toPrecision(4)}`}</>)} />
        </p>
      ))}
      <p class="note">What each piece adds to “{labels[1]}” minus “{labels[0]}”; with {short(bias[1]! - bias[0]!)} from the bias they add to {short(logits[1]! - logits[0]!)}.</p>
      <ol class="walk-pieces">
        {told.pieces.map((piece, t) => (
          <li>
            <span class="walk-piece still" style={{ "--share": Math.abs(given[t]!) / top, "--tint": SIDES[given[t]! > 0 ? 1 : 0] }}>{shown(piece)}</span>
            <Number_ value={given[t]!} label={`from ${piece.text}`} open={() => open(<>{`“${piece.text}” adds ${given[t]!.toPrecision(4)}: its last vector times the difference of the two columns of the matrix, divided by ${told.pieces.length} pieces`}</>)} />
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
  { title: "At a glance", words: "A Transformer lets every word look at every other word and decide what matters.", picture: Glance, now: ask.AskGlance },
  { title: "Pieces", words: "Words become pieces from a fixed list, and each piece is a number.", picture: Pieces, now: ask.AskPieces },
  { title: "Vectors", words: "Each piece becomes a list of numbers; its place in the sentence is added.", picture: Vectors, now: ask.AskVectors },
  { title: "Three roles", words: "From each vector come three: what I ask, what I offer, what I say.", picture: Roles, now: ask.AskRoles },
  { title: "Scores", words: "A question times an offer is a score; softmax turns a row of scores into shares that add to 1.", picture: Scores, now: ask.AskScores },
  { title: "Mixing", words: "The new vector is a mix of what the others say, weighted by those shares; several heads do this at once.", picture: Mixing, now: ask.AskMixing },
  { title: "The rest of the layer", words: "Add, normalise, transform each word alone; then again, layer after layer.", picture: Rest, now: ask.AskRest },
  { title: "The answer", words: "A last matrix turns the mean of all vectors into the answer.", picture: Answer, now: ask.AskAnswer },
];
