// A quiz, one question at a time: hints on a miss, then the mistake by its name and the derivation; the score is kept in the address.
import { useEffect, useRef, useState } from "preact/hooks";
import { json, useAnswer, type LabError } from "../shared/api";
import { change, query, useParam } from "../shared/place";
import { Fault, Shown } from "../shared/States";
import { titled } from "./set";
import { sittingOf, withAnswer } from "./sitting";
import type { Block, Finished, Judged, Known, Paper, Question, Review } from "./types";

interface Where {
  set: string;
  seed: number;
  n: number | null;
}

const whole = (text: string, otherwise: number): number => (/^\d{1,13}$/.test(text) ? Number(text) : otherwise);

export function Quiz({ known }: { known: Known }) {
  const [set] = useParam("set", "worked-head");
  const [seed] = useParam("seed", "0");
  const [n] = useParam("n", "5");
  const size = known.sets.find((item) => item.name === set)?.questions ?? 1;
  const where: Where = { set, seed: whole(seed, 0), n: n === "all" ? null : Math.max(1, Math.min(size, whole(n, 5))) };
  const paper = useAnswer<Paper>("/api/check/quiz", where);
  const again = (changes: Record<string, string | null>) => change({ ...changes, did: null, q: null });
  return (
    <>
      <form class="check-bar quiz-choose" aria-label="choose a quiz" onSubmit={(event) => event.preventDefault()}>
        <label>
          <span class="soft">topic</span>
          <select name="set" value={set} onChange={(event) => again({ set: event.currentTarget.value })}>
            {known.sets.map((item) => (
              <option value={item.name}>{item.title}</option>
            ))}
          </select>
        </label>
        <label>
          <span class="soft">questions</span>
          <select name="n" value={n} onChange={(event) => again({ n: event.currentTarget.value })}>
            {["3", "5", "10"].map((count) => (
              <option value={count}>{count}</option>
            ))}
            {!["3", "5", "10", "all"].includes(n) && <option value={n}>{n}</option>}
            <option value="all">all {size}</option>
          </select>
        </label>
        <label>
          <span class="soft">seed</span>
          <input name="seed" inputMode="numeric" value={seed} onInput={(event) => /^\d{0,12}$/.test(event.currentTarget.value) && change({ seed: event.currentTarget.value || null, did: null, q: null }, "replace")} />
        </label>
        <button type="button" class="quiet" onClick={() => again({ seed: String(1 + Math.floor(Math.random() * 9999)) })}>
          new numbers
        </button>
        {query.value.has("did") && (
          <button type="button" class="quiet" onClick={() => again({})}>
            start again
          </button>
        )}
      </form>
      <p class="note">{known.sets.find((item) => item.name === set)?.about}</p>
      <Shown answer={paper}>{(found) => (found.set === where.set && found.seed === where.seed ? <Sitting paper={found} where={where} key={`${found.set} ${found.seed} ${found.questions.length}`} /> : null)}</Shown>
    </>
  );
}

function Sitting({ paper, where }: { paper: Paper; where: Where }) {
  const did = query.value.getAll("did");
  const sitting = sittingOf(did);
  const [at] = useParam("q");
  const next = paper.questions.findIndex((item) => !(item.id in sitting.answers)) + 1; // 0: all are done
  const place = at === "end" ? 0 : Math.min(whole(at, next), paper.questions.length);
  const current = paper.questions[place - 1];
  const answered = paper.questions.filter((item) => item.id in sitting.answers).length;
  const review = useAnswer<Review>(answered > 0 ? "/api/check/quiz/review" : null, { ...where, answers: sitting.answers, hints: sitting.hints });
  const rows = new Map((answered ? (review.value?.rows ?? []) : []).map((row) => [row.id, row]));
  return (
    <div class="quiz">
      <div class="quiz-top">
        <p class="quiz-head">{paper.headline}</p>
        <p class="quiz-score" role="status" data-testid="score">
          {answered > 0 ? (review.value?.score ?? "") : "no answer yet"}
        </p>
      </div>
      <nav class="quiz-places" aria-label="questions">
        {paper.questions.map((item) => {
          const row = rows.get(item.id);
          const state = row ? (row.right ? "right" : row.verdict === "wrong" || row.verdict === "skipped" ? "wrong" : "carried") : "";
          return (
            <button type="button" class={`quiz-place ${state}`} aria-current={item === current ? "step" : undefined} aria-label={`question ${item.number}${state ? `, ${row!.right ? "right" : row!.verdict}` : ""}`} onClick={() => change({ q: String(item.number) })}>
              {item.number}
              {state && <span aria-hidden="true">{state === "right" ? " ✓" : state === "wrong" ? " ✗" : " ~"}</span>}
            </button>
          );
        })}
        {answered > 0 && (
          <button type="button" class="quiz-place" aria-current={current ? undefined : "step"} onClick={() => change({ q: "end" })}>
            review
          </button>
        )}
      </nav>
      {current ? (
        <Asked question={current} where={where} did={did} last={place === paper.questions.length} finished={rows.get(current.id)} done={current.id in sitting.answers} key={current.id} />
      ) : (
        review.value && <Reviewed review={review.value} paper={paper} />
      )}
    </div>
  );
}

function Asked({ question, where, did, last, finished, done }: { question: Question; where: Where; did: string[]; last: boolean; finished: Finished | undefined; done: boolean }) {
  const [text, setText] = useState("");
  const [used, setUsed] = useState(0);
  const [said, setSaid] = useState<string[]>([]);
  const [error, setError] = useState<LabError>();
  const [busy, setBusy] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  const options = question.blocks.find((block): block is Extract<Block, { options: unknown }> => "options" in block)?.options;
  const doing = async (work: () => Promise<void>) => {
    setBusy(true);
    setError(undefined);
    await work().catch((fault: LabError) => setError(fault));
    setBusy(false);
  };
  const keep = (answer: string, hints: number) => change({ did: withAnswer(did, question.id, hints, answer), q: String(question.number) });
  const check = () =>
    doing(async () => {
      const answers = { ...sittingOf(did).answers, [question.id]: text.trim() };
      const found = await json<Judged>("/api/check/quiz/judge", { ...where, answers, question: question.id, used });
      if (found.again) {
        setUsed(found.used);
        setSaid((before) => [...before, found.says]);
      } else keep(text.trim(), used);
    });
  const hint = () =>
    doing(async () => {
      const found = await json<{ hint: string }>("/api/check/quiz/hint", { ...where, question: question.id, used });
      setSaid((before) => [...before, found.hint]);
      setUsed((before) => Math.min(before + 1, question.hints));
    });
  return (
    <section class="quiz-question" aria-label={`question ${question.number}`}>
      <h2 tabIndex={-1} ref={heading}>
        {question.number}. {titled(question.id)} <span class="soft">({question.marks})</span>
      </h2>
      <div class="quiz-blocks">
        {question.blocks.map((block) => (
          <Shows block={block} />
        ))}
      </div>
      {done ? (
        finished && <Done found={finished} last={last} number={question.number} />
      ) : (
        <form
          class="quiz-answer"
          onSubmit={(event) => {
            event.preventDefault();
            if (text.trim()) void check();
          }}
        >
          {options ? (
            <fieldset>
              <legend class="unseen">{question.wanted}</legend>
              {options.map((option) => (
                <label class="quiz-option">
                  <input type="radio" name={`answer-${question.id}`} value={option.letter} checked={text === option.letter} onChange={() => setText(option.letter)} />
                  <span>
                    <strong>{option.letter})</strong> {option.text}
                  </span>
                </label>
              ))}
            </fieldset>
          ) : (
            <label class="quiz-write">
              <span class="note">answer ({question.wanted})</span>
              <input class="mono" name="answer" autocomplete="off" spellcheck={false} value={text} onInput={(event) => setText(event.currentTarget.value)} />
            </label>
          )}
          <div class="quiz-buttons">
            <button type="submit" class="primary" disabled={busy || !text.trim()}>
              check
            </button>
            {question.hints > used && (
              <button type="button" disabled={busy} onClick={() => void hint()}>
                hint ({question.hints - used} left)
              </button>
            )}
            <button type="button" class="quiet" disabled={busy} onClick={() => keep("", used)}>
              show the answer
            </button>
          </div>
        </form>
      )}
      <Fault error={error} />
      {!done && (
        <div role="status" class="quiz-said">
          {said.map((line) => (
            <p>{line}</p>
          ))}
          {said.length > 0 && used > 0 && <p class="note">Each hint costs a share of the marks.</p>}
        </div>
      )}
    </section>
  );
}

function Shows({ block }: { block: Block }) {
  if ("text" in block) return <p>{block.text}</p>;
  if ("options" in block) return null; // they are the answer's buttons
  return (
    <div class="hand-equation">
      <span class="hand-symbol mono">{block.name} =</span>
      <div class="wide">
        <table class="hand-matrix" aria-label={block.name}>
          {block.columns.length > 0 && (
            <thead>
              <tr>
                {block.row_names.length > 0 && <td />}
                {block.columns.map((word) => (
                  <th scope="col">{word}</th>
                ))}
              </tr>
            </thead>
          )}
          <tbody>
            {block.rows.map((row, number) => (
              <tr>
                {block.row_names.length > 0 && <th scope="row">{block.row_names[number]}</th>}
                {row.map((cell) => (
                  <td>{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function Verdict({ found }: { found: Finished }) {
  return (
    <>
      <p class="quiz-says">
        {found.answer && <span class="mono">{found.answer}: </span>}
        <strong>{found.says}</strong>
      </p>
      {found.mistakes.map((one) => (
        <p>
          <b title={one.code}>{one.name}</b>: {one.sentence}
        </p>
      ))}
    </>
  );
}

function Derived({ found }: { found: Finished }) {
  return (
    <>
      <p>
        <strong>{found.answer_is}</strong>
      </p>
      {found.solution.map((part) => (
        <>
          <p class="derivation-title">{part.title}</p>
          <ul class="derivation">
            {part.lines.map((line) => (
              <li>{line}</li>
            ))}
          </ul>
        </>
      ))}
      {found.command && (
        <p class="note">
          To see the derivation, run <code>{found.command}</code>
        </p>
      )}
    </>
  );
}

function Done({ found, last, number }: { found: Finished; last: boolean; number: number }) {
  return (
    <div class={`verdict ${found.right ? "right" : "wrong"}`} role="status" data-testid="verdict">
      <Verdict found={found} />
      {found.right ? (
        <details>
          <summary>derivation</summary>
          <Derived found={found} />
        </details>
      ) : (
        <Derived found={found} />
      )}
      <button type="button" class="primary" onClick={() => change({ q: last ? "end" : String(number + 1) })}>
        {last ? "review" : "next question"}
      </button>
    </div>
  );
}

function Reviewed({ review, paper }: { review: Review; paper: Paper }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <section class="quiz-review" aria-label="review">
      <h2 tabIndex={-1} ref={heading}>
        Review
      </h2>
      {review.mistakes.length > 0 && (
        <>
          <h3>Mistakes</h3>
          <ul>
            {review.mistakes.map((line) => (
              <li>{line}</li>
            ))}
          </ul>
        </>
      )}
      <ol class="quiz-rows">
        {review.rows.map((row) => (
          <li class={`verdict ${row.right ? "right" : "wrong"}`}>
            <h3>
              {paper.questions.find((item) => item.id === row.id)?.number}. {titled(row.id)} <span class="soft">{`${row.won} of ${row.of}`}</span>
            </h3>
            <Verdict found={row} />
            {!row.right && (
              <details>
                <summary>answer and derivation</summary>
                <Derived found={row} />
              </details>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
