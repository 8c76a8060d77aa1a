// Scene 5: scores become shares in four steps; a score can be set, and all shares follow.
import { useEffect, useState } from "preact/hooks";
import { softmax } from "../forward";
import { Bar, Laid, NowYou, Number_, short, useOpened } from "../parts";
import { byLargest, LAYER, largest, row, scoresOf, sharesOf, shown, type Told } from "../told";
import { Words } from "../Words";
import { shareLine } from "./glance";

const MOST_ROWS = 16;
const PAUSE = 900; // ms for which a step is looked at
const SET = 5; // what the question sets a score to

export function Scores(told: Told) {
  const [opened, open] = useOpened();
  const [set, setScore] = useState<number | null>(null);
  const { header } = told.model;
  const width = header.d_model / header.heads;
  const own = scoresOf(told);
  const edited = told.pieces.findIndex((_, s) => s !== largest(own)); // the word whose score can be set
  const scores = set === null ? own : own.map((one, s) => (s === edited ? set : one));
  const shares = softmax(scores, scores.length);
  const kept = byLargest(own).slice(0, MOST_ROWS).concat(edited);
  const rows = told.pieces.map((_, s) => s).filter((s) => kept.includes(s));
  const steps = [own.map((one) => one * Math.sqrt(width)), scores, scores.map(Math.exp), shares];
  const [step, setStep, play] = usePlayed(steps.length);
  const heads = ["q·k", `÷ √${width} = score`, "exp(score)", "÷ sum = share"];
  const explain = [
    (s: number) => dotLine(told, s),
    (s: number) => (s === edited && set !== null ? `You set this score to ${set}. Without that it is ${short(own[s]!)}.` : `score = q·k / √${width} = ${short(own[s]! * Math.sqrt(width))} / ${short(Math.sqrt(width))} = ${short(own[s]!)}`),
    (s: number) => `exp(${short(scores[s]!)}) = ${Math.exp(scores[s]!).toPrecision(4)}: e = 2.718… to the power of the score, so that every number is above 0`,
    (s: number) => shareLine(scores, s),
  ];
  const [low, high] = [Math.min(0, ...steps[step]!), Math.max(step === 3 ? 1 : 0, ...steps[step]!)];
  const at = (value: number) => (value - low) / (high - low || 1);
  return (
    <Laid opened={opened} ask={edited >= 0 && <AskScores told={told} edited={edited} set={set} setScore={setScore} />}>
      <Words told={told} />
      <table class="walk-rows">
        <thead>
          <tr>
            <th scope="col">“{shown(told.pieces[told.asks]!)}” asks</th>
            {heads.map((head, place) => (
              <th scope="col">
                <button type="button" class="quiet" aria-pressed={place === step} title="show this column as bars" onClick={() => setStep(place)}>
                  {head}
                </button>
              </th>
            ))}
            <th scope="col">
              <button type="button" class="quiet walk-play" onClick={play}>
                play the four steps
              </button>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((s) => (
            <tr class={set !== null && s === edited ? "chosen" : ""}>
              <th scope="row">{shown(told.pieces[s]!)}</th>
              {steps.map((values, place) => (
                <td class={place === step ? "now" : ""}>
                  <Number_ value={values[s]!} label={`${heads[place]} of ${told.pieces[s]!.text}`} open={() => open(<>{explain[place]!(s)}</>)} />
                </td>
              ))}
              <td>
                <Bar from={at(Math.min(0, steps[step]![s]!))} to={at(Math.max(0, steps[step]![s]!))} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {told.pieces.length > rows.length && (
        <p class="note">
          {rows.length} of {told.pieces.length} pieces: those with the largest scores.
        </p>
      )}
    </Laid>
  );
}

/** Which step is shown, how to choose one, and how to see them one after the other. */
function usePlayed(count: number): [number, (step: number) => void, () => void] {
  const [step, setStep] = useState(count - 1);
  const [playing, setPlaying] = useState(false);
  useEffect(() => {
    if (!playing) return;
    if (step === count - 1) return setPlaying(false);
    const timer = setTimeout(() => setStep(step + 1), PAUSE);
    return () => clearTimeout(timer);
  }, [playing, step, count]);
  const choose = (next: number) => {
    setPlaying(false);
    setStep(next);
  };
  const play = () => {
    setStep(0);
    setPlaying(true);
  };
  return [step, choose, play];
}

/** The question of the piece that asks times the offer of another, product by product. */
function dotLine({ values, asks, model: { header } }: Told, s: number): string {
  const size = header.d_model / header.heads;
  const [q, k] = ["q", "k"].map((role, i) => row(values[`layers.${LAYER}.attention.${role}`]!, i ? s : asks, header.d_model)) as [Float32Array, Float32Array];
  const terms = Array.from({ length: size }, (_, i) => `${short(q[i]!)}·${short(k[i]!)}`);
  return `q·k = ${terms.join(" + ")} = ${short(terms.reduce((sum, _, i) => sum + q[i]! * k[i]!, 0))}`;
}

interface AskProps {
  told: Told;
  edited: number;
  set: number | null;
  setScore: (value: number) => void;
}

function AskScores({ told, edited, set, setScore }: AskProps) {
  const [before, scores] = [sharesOf(told), scoresOf(told)];
  const shares = (value: number) => softmax(scores.map((one, s) => (s === edited ? value : one)), scores.length);
  const name = shown(told.pieces[edited]!);
  const value = set ?? SET;
  const best = largest(scores);
  return (
    <NowYou question={`set the score of “${name}” to ${SET}. What happens to the other shares?`} options={["they fall", "they stay", "they rise"]} right={shares(SET)[edited]! > before[edited]! ? 0 : 2}>
      <label>
        score <input type="range" min={-10} max={15} step={0.5} value={value} onInput={(event) => setScore(Number(event.currentTarget.value))} /> {value}
      </label>
      <p>
        “{name}” goes from {short(before[edited]!)} to {short(shares(value)[edited]!)}, “{shown(told.pieces[best]!)}” from {short(before[best]!)} to {short(shares(value)[best]!)}. The shares always add to 1. {set === null ? "Move the slider: the bars follow." : ""}
      </p>
    </NowYou>
  );
}
