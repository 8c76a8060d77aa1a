// One claim: right, right under a convention, or the mistake that gives exactly this number; the derivation on request.
import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "../shared/api";
import { change, useParam } from "../shared/place";
import { Shown } from "../shared/States";
import type { Claimed, Known } from "./types";

const SAID: Record<Claimed["verdict"], string> = { right: "✓ right", convention: "✓ right under a convention", wrong: "✗ wrong", carried: "✗ wrong", unclear: "? not understood" };

export function Claim({ known }: { known: Known }) {
  const [claim] = useParam("claim", known.claims[2] ?? "");
  const [level, setLevel] = useParam("shown");
  const [text, setText] = useState(claim);
  useEffect(() => setText(claim), [claim]);
  const answer = useAnswer<Claimed>(claim ? "/api/check/claim" : null, { claim });
  const ask = (next: string) => change({ claim: next.trim(), shown: null });
  return (
    <div class="claim">
      <form
        class="claim-form"
        onSubmit={(event) => {
          event.preventDefault();
          ask(text);
        }}
      >
        <label class="claim-label">
          <span>Claim</span>
          <input class="mono" spellcheck={false} autocomplete="off" value={text} placeholder="params @ bert-base = 110M" onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <button type="submit" class="primary">
          check
        </button>
      </form>
      <p class="note">
        A quantity, <code>@</code> a preset with its fields, and after <code>=</code> the value: a number such as <code>110M</code>, a shape such as <code>64 x 32</code>, or a formula.
      </p>
      <div class="check-bar">
        <span class="soft">Examples</span>
        {known.claims.map((line) => (
          <button type="button" class="quiet mono" aria-pressed={line === claim} onClick={() => ask(line)}>
            {line}
          </button>
        ))}
      </div>
      <div aria-live="polite">
        <Shown answer={answer}>
          {(found) => (
            <div class={`verdict ${found.verdict}`}>
              <h2>
                {SAID[found.verdict]} <span class="soft mono">{found.claim}</span>
              </h2>
              {found.verdict === "convention" && <p>{found.headline}</p>}
              {found.mistakes.map((one) => (
                <>
                  <p class="check-name wrong" title={one.codes.join(" ")}>
                    {one.name}
                  </p>
                  {one.near && <p class="note">close to the result of this mistake; the remaining difference is an arithmetic slip</p>}
                  {one.sentences.map((sentence) => (
                    <p>{sentence}</p>
                  ))}
                </>
              ))}
              {found.notes.map((note) => (
                <p>{note}</p>
              ))}
              {level !== "answer" ? (
                <button type="button" onClick={() => setLevel("answer")}>
                  {found.verdict === "wrong" ? "show the correct answer" : "show the derivation"}
                </button>
              ) : (
                <>
                  {found.mistakes.flatMap((one) => one.what).map((what) => (
                    <p>This gives exactly that number: {what}.</p>
                  ))}
                  <p>
                    <strong>{found.truth}</strong>
                  </p>
                  <ul class="derivation">
                    {found.derivation.map((line) => (
                      <li>{line}</li>
                    ))}
                  </ul>
                </>
              )}
            </div>
          )}
        </Shown>
      </div>
    </div>
  );
}
