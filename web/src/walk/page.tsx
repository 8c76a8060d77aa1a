// The walk: one sentence through a small trained encoder in eight scenes; every number is computed in the page.
import { useEffect, useMemo, useState } from "preact/hooks";
import { arrays, useAnswer } from "../shared/api";
import { exported } from "../shared/exported";
import { Go } from "../shared/Go";
import { change, query } from "../shared/place";
import { Fault, Progress } from "../shared/States";
import type { Arrays } from "../shared/wire";
import { forward, pieces, type Piece } from "./forward";
import { SCENES } from "./scenes/index";
import { isAsked, isWord, traceOf, type Told } from "./told";
import type { Walk } from "./types";

const MOST_PIECES = 64; // positions of the encoder
const PRONOUNS = ["it", "il", "elle", "वह", "यह", "he", "she", "they"];

export default function Start() {
  const model = useAnswer<Arrays<Walk>>("/api/walk", undefined, (url, _, signal) => arrays<Walk>(url, undefined, signal));
  if (!model.value) return model.error ? <Fault error={model.error} /> : <Progress />;
  return <Walked model={model.value} />;
}

function Walked({ model }: { model: Arrays<Walk> }) {
  const { header } = model;
  const text = query.value.get("text") ?? header.examples[0]!;
  const scene = sceneNow();
  const vocab = useMemo(() => new Map(header.vocab.map((piece, id) => [piece, id])), [header]);
  const all = useMemo(() => pieces(text, vocab), [text, vocab]);
  const shown = all.length > MOST_PIECES ? all.slice(0, MOST_PIECES) : all;
  const values = useMemo(() => forward(model, shown.length ? shown.map(({ id }) => id) : [0]), [text, model]);
  Object.assign(globalThis, { walk: { pieces: shown, values } }); // for the browser's console: every tensor by name
  const asks = asking(shown, values["layers.1.attention.weights"]!, query.value.get("q"));
  const unknown = shown.filter(({ id }) => id === vocab.get("[UNK]")).length;
  const told: Told = { model, text, pieces: shown, values, asks };
  useKeys();
  const { title, words, view: View } = SCENES[scene - 1]!;
  return (
    <div class="walk" data-scene={scene}>
      <h1>See what a Transformer does with your sentence</h1>
      <Sentence text={text} examples={header.examples} />
      <Steps scene={scene} />
      {all.length > MOST_PIECES && <p class="note">This encoder reads {MOST_PIECES} pieces; the rest of the text is left out.</p>}
      {unknown > 0 && (
        <p class="note">
          {unknown === 1 ? "One piece is" : `${unknown} pieces are`} unknown to this small model (dashed): it was trained on English, French and Hindi.
        </p>
      )}
      {shown.length === 0 ? (
        <p class="empty">Type at least one word.</p>
      ) : (
        <section class="walk-scene" data-scene={scene} aria-label={`scene ${scene} of ${SCENES.length}: ${title}`} key={`${scene} ${text}`}>
          <div class="walk-words">
            <h2>
              {scene} of {SCENES.length} · {title}
            </h2>
            <p class="walk-line">{words}</p>
          </div>
          <View {...told} key={asks} />
        </section>
      )}
      <Doors told={told} last={scene === SCENES.length} />
      <details class="note">
        <summary>About this model ({header.parameters.toLocaleString("en")} parameters)</summary>
        <p>{header.made}</p>
      </details>
    </div>
  );
}

/** All scenes by name, at the same place whatever their height. */
function Steps({ scene }: { scene: number }) {
  return (
    <nav class="walk-steps" aria-label="scenes">
      <button type="button" disabled={scene === 1} onClick={() => go(scene - 1)}>
        ← back
      </button>
      <ol>
        {SCENES.map((one, place) => (
          <li>
            <button type="button" class="walk-dot" aria-label={`scene ${place + 1}: ${one.title}`} aria-current={place + 1 === scene ? "step" : undefined} onClick={() => go(place + 1)}>
              <span>
                {place + 1} {one.title}
              </span>
            </button>
          </li>
        ))}
      </ol>
      <button type="button" class="primary" disabled={scene === SCENES.length} onClick={() => go(scene + 1)}>
        next →
      </button>
    </nav>
  );
}

/** The scene that the address names. */
const sceneNow = (): number => Math.min(SCENES.length, Math.max(1, Math.trunc(Number(query.value.get("scene"))) || 1));

function go(next: number): void {
  if (next >= 1 && next <= SCENES.length) change({ scene: next === 1 ? null : String(next) });
}

/** Who asks: as the address says, else a pronoun, else the whole word of some letters with the largest weight on another piece. */
function asking(pieces: Piece[], weights: Float32Array, given: string | null): number {
  const count = pieces.length;
  if (given !== null && /^\d{1,2}$/.test(given) && Number(given) < count) return Number(given);
  const pronoun = pieces.findIndex((piece, t) => PRONOUNS.includes(piece.text) && isWord(pieces, t));
  if (pronoun >= 0) return pronoun;
  const strongest = pieces.map((_, t) => (isAsked(pieces, t) ? 1 : 0) + Math.max(...pieces.map((_, s) => (s === t ? 0 : weights[t * count + s]!))));
  return Math.max(0, strongest.indexOf(Math.max(...strongest)));
}

/** The arrow keys walk, wherever they have nothing else to do. */
function useKeys(): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const busy = event.target instanceof HTMLElement && event.target.closest("input, textarea, select, [role=tablist]");
      const step = ({ ArrowRight: 1, ArrowLeft: -1 } as Record<string, number>)[event.key];
      if (step && !busy && !event.ctrlKey && !event.metaKey && !event.altKey) go(sceneNow() + step);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

function Sentence({ text, examples }: { text: string; examples: string[] }) {
  const [typed, setTyped] = useState(text);
  useEffect(() => setTyped(text), [text]);
  const use = (next: string) => change({ text: next === examples[0] ? null : next, q: null }, "replace");
  return (
    <div class="walk-sentence">
      <label class="unseen" for="walk-text">
        your sentence
      </label>
      <input
        id="walk-text"
        value={typed}
        maxLength={300}
        autocomplete="off"
        placeholder="Type a sentence in English, French or Hindi"
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          if (event.currentTarget.value.trim()) use(event.currentTarget.value);
        }}
      />
      {!typed.trim() && <p class="note">Type at least one word. Below: the last sentence.</p>}
      <p class="walk-try">
        <span class="soft">or try </span>
        {examples.map((example) => (
          <button type="button" class="quiet" aria-pressed={example === text} onClick={() => use(example)}>
            {example}
          </button>
        ))}
      </p>
    </div>
  );
}

/** Where the walk leads: an export has the bench alone, and says where the rest is. */
function Doors({ told, last }: { told: Told; last: boolean }) {
  const doors: [string, string][] = [
    [traceOf(told), "Open this sentence, or your own model, in Trace"],
    ["/bench", "Count your own config"],
    ["/hand", "Work one by hand"],
    ["/train", "Train one"],
    ["/check", "Check my solution"],
  ];
  return (
    <nav class={last ? "walk-doors last" : "walk-doors"} aria-label="go on">
      <b>Go on</b>
      {exported ? <Go to="/bench">See what an encoder is made of, and count it</Go> : doors.map(([to, words]) => <Go to={to}>{words}</Go>)}
      {exported && (
        <span class="note">
          Your own model, problems by hand, training and checking: <code>pip install 'glassformer[lab]'</code>, then <code>glassformer lab</code>.
        </span>
      )}
    </nav>
  );
}
