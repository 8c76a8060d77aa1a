// Scene 8: the answer, the pieces without which it would be another one, and what each piece adds to it.
import { useState } from "preact/hooks";
import { change } from "../../shared/place";
import { Switch } from "../../shared/Switch";
import { Laid, Number_, short, useOpened } from "../parts";
import { answerOf, classesOf, largest, rerun, row, runOn, shown, type Told } from "../told";
import { CLASS_COLOURS, Classes } from "./glance";

const PLAIN = "finally happy sad good bad invited robbed félicité triste beau अच्छी बुरी".split(" "); // tried first
const MOST_TRIED = 300; // words tried in one place until the answer flips
const MOST_REPLACED = 3; // places tried
const ALIKE = 1.5; // pieces that add nearly the same: the largest at most so many times the smallest

type View = "without" | "adds";

export function Answer(told: Told) {
  const [opened, open] = useOpened();
  const [view, setView] = useState<View>("without");
  return (
    <Laid opened={opened} ask={<AskAnswer {...told} />}>
      <Classes told={told} open={(line) => open(<>{line}</>)} />
      <Switch
        label="what is shown of each piece"
        value={view}
        choices={[
          ["without", "the answer without it"],
          ["adds", "what it adds"],
        ]}
        onChange={(next) => setView(next as View)}
      />
      {view === "without" && told.pieces.length > 1 ? <Without told={told} open={open} /> : <Adds told={told} open={open} />}
    </Laid>
  );
}

interface ViewProps {
  told: Told;
  open: (line: string) => void;
}

/** The run once more for each piece, on the sentence without it. */
function Without({ told, open }: ViewProps) {
  const { labels } = told.model.header;
  const shares = classesOf(told);
  const best = largest(shares);
  const without = told.pieces.map((_, t) => classesOf(rerun(told, told.pieces.filter((__, s) => s !== t)))[best]!);
  const decisive = told.pieces.filter((_, t) => without[t]! < 0.5).map((piece) => `“${shown(piece)}”`);
  return (
    <>
      <p>{decisive.length ? `Without ${decisive.join(" or ")} the answer would be ${labels[1 - best]}.` : `Without any one piece it stays ${labels[best]}: no single piece decides.`}</p>
      <ol class="walk-pieces">
        {told.pieces.map((piece, t) => (
          <li>
            <span class="walk-piece" style={{ "--share": Math.min(1, Math.max(0, shares[best]! - without[t]!) * 2), "--tint": CLASS_COLOURS[1 - best] }}>
              {shown(piece)}
            </span>
            <Number_ value={without[t]!} label={`${labels[best]} without ${piece.text}`} open={() => open(`without “${shown(piece)}”, the share of “${labels[best]}” is ${without[t]!.toPrecision(4)}; with it, ${shares[best]!.toPrecision(4)}`)} />
          </li>
        ))}
      </ol>
      <p class="note">Under each piece: the share of “{labels[best]}” for the sentence without it.</p>
    </>
  );
}

/** The answer as a sum: the mean of all vectors is a sum, and so is what the last matrix makes of it. */
function Adds({ told, open }: ViewProps) {
  const { d_model: width, labels } = told.model.header;
  const logits = told.values["head.logits"]!;
  const weight = told.model.arrays["head.W_C"]!.data;
  const bias = told.model.arrays["head.b_C"]!.data;
  const last = told.values["layers.1.out"]!;
  const count = told.pieces.length;
  const given = told.pieces.map((_, t) => row(last, t, width).reduce((sum, one, d) => sum + one * (weight[d * 2 + 1]! - weight[d * 2]!), 0) / count);
  const sizes = given.map(Math.abs);
  const top = Math.max(...sizes, 1e-9);
  return (
    <>
      <p>
        “{labels[1]}” minus “{labels[0]}” is {short(logits[1]! - logits[0]!)}: the numbers below, and {short(bias[1]! - bias[0]!)} from the bias.
        {top < ALIKE * Math.min(...sizes) && " They are nearly equal: after two layers of mixing, every piece carries the answer."}
      </p>
      <ol class="walk-pieces">
        {told.pieces.map((piece, t) => (
          <li>
            <span class="walk-piece" style={{ "--share": sizes[t]! / top, "--tint": CLASS_COLOURS[given[t]! > 0 ? 1 : 0] }}>
              {shown(piece)}
            </span>
            <Number_ value={given[t]!} label={`from ${piece.text}`} open={() => open(`“${shown(piece)}” adds ${given[t]!.toPrecision(4)}: its last vector times the difference of the two columns of the matrix, divided by ${count} pieces`)} />
          </li>
        ))}
      </ol>
    </>
  );
}

function AskAnswer(told: Told) {
  const [hint, setHint] = useState("");
  const flip = () => {
    const found = flipped(told);
    if (found) change({ text: found, q: null }, "replace");
    else setHint("No single replacement that was tried does it here: change another word, or two.");
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

/** The sentence with one word replaced such that the answer is another one: the word that matters most, by one of its script. */
function flipped(told: Told): string | null {
  const now = largest(classesOf(told));
  const replaced = ({ 0: word, index }: RegExpMatchArray, other: string) => told.text.slice(0, index) + other + told.text.slice(index! + word.length);
  const without = new Map([...told.text.matchAll(/[\p{L}\p{M}]+/gu)].map((word) => [word, classesOf(runOn(told, replaced(word, "")))[now]!]));
  const mattering = [...without].sort(([, one], [, other]) => one - other).slice(0, MOST_REPLACED);
  for (const [word] of mattering) {
    const script = /\p{Script=Latin}/u.test(word[0]) ? /^[a-zàâçéèêëîïôùûœ]{3,}$/ : /^[^\x00-\u036f#]{2,}$/u;
    for (const other of [...PLAIN, ...told.model.header.vocab].filter((piece) => script.test(piece)).slice(0, MOST_TRIED)) {
      const text = replaced(word, other);
      if (largest(classesOf(runOn(told, text))) !== now) return text;
    }
  }
  return null;
}
