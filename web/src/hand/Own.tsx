// Numbers of one's own against the sheet's: right, carried forward, or the mistake by its name; the step done right on request.
import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "../shared/api";
import { change, useParam } from "../shared/place";
import { Shown } from "../shared/States";
import type { Asked } from "./asked";
import type { Judged } from "./types";

const VERDICTS = { right: "✓ right", convention: "✓ right under a convention", carried: "→ follows from an earlier error", wrong: "✗ wrong", unclear: "? not understood" };

export function Own({ asked, names }: { asked: Asked; names: string[] }) {
  const [claim] = useParam("claim");
  const [text, setText] = useState(claim);
  useEffect(() => setText(claim), [claim]);
  const answer = useAnswer<Judged>(claim ? "/api/hand/claim" : null, { ...asked, claim });
  const example = names.includes("weights") ? "weights = 0.88 0.12" : `${names[names.length - 1] ?? "output"} = 1 2`;
  return (
    <section class="hand-own" aria-label="your own numbers">
      <h2>Check your own numbers</h2>
      <form
        class="hand-claim"
        onSubmit={(event) => {
          event.preventDefault();
          change({ claim: text.trim() });
        }}
      >
        <input class="mono" aria-label="your numbers" autocomplete="off" spellcheck={false} placeholder={example} value={text} onInput={(event) => setText(event.currentTarget.value)} />
        <button type="submit">check</button>
      </form>
      {claim && (
        <Shown answer={answer}>
          {(found) => (
            <>
              {found.claims.map((one) => (
                <div class={`hand-verdict ${one.verdict}`} role="status">
                  <p>
                    <strong>{VERDICTS[one.verdict]}</strong> <span class="soft">{`${one.name || "the result"}: ${one.claim}`}</span>
                  </p>
                  {one.convention && <p>{one.convention}</p>}
                  {one.follows.length > 0 && <p>It follows from {one.follows.join(", ")}.</p>}
                  {one.findings.map((finding) => (
                    <>
                      <p>
                        <strong title={finding.codes.join(" ")}>{finding.names.join(" and ")}</strong>: {finding.what.join("; ")}
                      </p>
                      {finding.sentences.map((sentence) => (
                        <p>{sentence}</p>
                      ))}
                      {finding.corrections.length > 0 && (
                        <details>
                          <summary>the correct step</summary>
                          {finding.corrections.map((step) => (
                            <>
                              <p class="mono">{step.rule}</p>
                              <ul class="hand-lines">
                                {step.numbers.map((line) => (
                                  <li>{line}</li>
                                ))}
                              </ul>
                            </>
                          ))}
                        </details>
                      )}
                    </>
                  ))}
                  {one.notes.map((note) => (
                    <p class="note">{note}</p>
                  ))}
                </div>
              ))}
            </>
          )}
        </Shown>
      )}
    </section>
  );
}
