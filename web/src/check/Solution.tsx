// A worked solution: left what was written, right the same text with marks; each mark opens, hint first, answer on request.
import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "../shared/api";
import { change, query, useParam } from "../shared/place";
import { Progress, Shown } from "../shared/States";
import { Set } from "./set";
import { fits, opened, withOpen } from "./sitting";
import type { Checked, Known, Line, Note, Verdict } from "./types";

const MARKS: Record<Verdict, [string, string]> = {
  right: ["✓", "right"],
  wrong: ["✗", "wrong"],
  carried: ["→", "error carried forward"],
  unclear: ["?", "not understood"],
  note: ["!", "note"],
  "": ["", ""],
};
const KINDS: [string, string][] = [["md", "Markdown"], ["txt", "plain text"], ["tex", "LaTeX"], ["ipynb", "notebook (.ipynb)"]];

export function Solution({ known }: { known: Known }) {
  const [example] = useParam("example", known.solutions[0]?.name ?? "");
  const [held] = useParam("text");
  const [kind, setKind] = useParam("kind", "md");
  const [long, setLong] = useState<string | null>(null); // a text that no address can hold
  const chosen = known.solutions.find((item) => item.name === example);
  const text = long ?? (query.value.has("text") ? held : example === "own" ? "" : (chosen?.text ?? ""));
  const [asked, setAsked] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text), 250);
    return () => clearTimeout(timer);
  }, [text]);
  const answer = useAnswer<Checked>("/api/check/text", { text: asked, kind });
  const write = (next: string) => {
    setLong(fits(next) ? null : next);
    change({ text: fits(next) ? next : null, example: "own", open: null }, "replace");
  };
  const pick = (name: string) => {
    setLong(null);
    change({ example: name === known.solutions[0]?.name ? null : name, text: null, open: null, kind: null });
  };
  return (
    <>
      <div class="check-bar">
        <span class="soft">Examples</span>
        {known.solutions.map((item) => (
          <button type="button" class="quiet" aria-pressed={!query.value.has("text") && long === null && item.name === example} onClick={() => pick(item.name)}>
            {item.about}
          </button>
        ))}
        <button type="button" class="quiet" onClick={() => write("")}>
          empty
        </button>
        <label class="check-kind">
          <span class="soft">format</span>
          <select value={kind} onChange={(event) => setKind(event.currentTarget.value)}>
            {KINDS.map(([id, words]) => (
              <option value={id}>{words}</option>
            ))}
          </select>
        </label>
      </div>
      <div class="check">
        <div class="check-given">
          <h2 id="check-yours">Your solution</h2>
          <textarea class="mono" aria-labelledby="check-yours" spellcheck={false} rows={18} value={text} placeholder={"Paste or type a solution, for example\n3 × 512 × 512 × 8 = 6,291,456 weights for 8 heads"} onInput={(event) => write(event.currentTarget.value)} />
          {long !== null && <p class="note">This text is too long for the page address, so a link to this page does not include it.</p>}
        </div>
        <div class="check-found">
          <div class="check-wait">{answer.waiting && answer.value && <Progress>checking …</Progress>}</div>
          <Shown answer={answer}>{(found) => <Annotated found={found} empty={asked.trim() === ""} />}</Shown>
        </div>
      </div>
    </>
  );
}

function Annotated({ found, empty }: { found: Checked; empty: boolean }) {
  const open = query.value.getAll("open");
  const set = (line: number, level: "" | "hint" | "answer") => change({ open: withOpen(open, line, level) });
  const counts: [Verdict, number][] = (["right", "wrong", "carried", "unclear"] as const).map((verdict) => [verdict, found.counts[verdict] ?? 0]);
  return (
    <>
      <h2>Checked</h2>
      {empty ? (
        <p class="empty">Nothing to check yet. Type on the left or choose an example.</p>
      ) : (
        <>
          <p class="check-summary" role="status" data-testid="summary">
            {counts.map(([verdict, count]) => (
              <span class={`check-count ${verdict}`} aria-hidden="true">
                {MARKS[verdict][0]} {count} {verdict === "carried" ? "carried forward" : MARKS[verdict][1]}
              </span>
            ))}
            <span class="unseen">{found.summary}</span>
          </p>
          <ol class="check-lines">
            {found.lines.map((line) => (
              <Annotation line={line} level={opened(open, line.number)} onOpen={(level) => set(line.number, level)} key={line.number} />
            ))}
          </ol>
          {found.left_out > 0 && <p class="note">{found.left_out} more lines are counted but not shown here.</p>}
        </>
      )}
    </>
  );
}

function Annotation({ line, level, onOpen }: { line: Line; level: "" | "hint" | "answer"; onOpen: (level: "" | "hint" | "answer") => void }) {
  const [mark, words] = MARKS[line.mark];
  const wrong = line.notes.filter((note) => note.verdict !== "right" && note.verdict !== "note");
  const said = line.notes.filter((note) => (note.verdict === "right" && note.name !== "right") || note.verdict === "note");
  return (
    <li class={`check-line ${line.mark}`} data-line={line.number}>
      <span class="check-number" aria-hidden="true">
        {line.number}
      </span>
      <span class={`check-mark ${line.mark}`} role={mark ? "img" : undefined} aria-label={mark ? `${line.place}: ${words}` : undefined}>
        {mark}
      </span>
      <div class="check-body">
        <Set parts={line.parts} />
        {said.map((note) => (
          <p class="note">{note.name}</p>
        ))}
        {wrong.length > 0 && (
          <div class="check-wrong">
            {wrong.map((note) => (
              <Mistake note={note} level={level} />
            ))}
            <p class="check-steps">
              {level === "" && (
                <button type="button" class="quiet" aria-label={`hint for ${line.place}`} onClick={() => onOpen("hint")}>
                  hint
                </button>
              )}
              {level !== "answer" && wrong.some((note) => note.answer.length > 0) && (
                <button type="button" class="quiet" aria-label={`show the correct answer for ${line.place}`} onClick={() => onOpen("answer")}>
                  {wrong.every((note) => note.verdict === "unclear") ? "why" : "show the correct answer"}
                </button>
              )}
              {level !== "" && (
                <button type="button" class="quiet" aria-label={`close ${line.place}`} onClick={() => onOpen("")}>
                  close
                </button>
              )}
            </p>
          </div>
        )}
      </div>
    </li>
  );
}

function Mistake({ note, level }: { note: Note; level: "" | "hint" | "answer" }) {
  return (
    <>
      <p class={`check-name ${note.verdict}`} title={note.code}>
        {note.name}
      </p>
      {level !== "" && note.hint && <p class="check-hint">{note.hint}</p>}
      {level === "answer" && note.answer.map((line) => <p class="check-answer">{line}</p>)}
    </>
  );
}
