// What a page shows when there is nothing yet, when it takes a while, and when something went wrong.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Answer, LabError } from "./api";

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

/** Says so after half a second: what is quicker needs no word, and makes no jump. */
export function Progress({ children = "working …", value }: { children?: ComponentChildren; value?: number }) {
  const [late, setLate] = useState(value !== undefined);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 400);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p class="progress" role="status">
      {late && (
        <>
          <progress value={value} max={1} aria-label="progress" /> {children}
        </>
      )}
    </p>
  );
}

export function Fault({ error, note }: { error: LabError | undefined; note?: string }) {
  if (!error) return null;
  return (
    <p class="fault" role="alert">
      {error.message}
      {note && <span class="note"> {note}</span>}
    </p>
  );
}

/** An answer as it comes: progress, then the value; an error stands above the last good value. */
export function Shown<T>({ answer, children }: { answer: Answer<T>; children: (value: T) => ComponentChildren }) {
  return (
    <>
      <Fault error={answer.error} note={answer.value === undefined ? undefined : "Below: the last valid result."} />
      {answer.value === undefined ? answer.waiting && <Progress /> : <div class={answer.error ? "stale" : ""}>{children(answer.value)}</div>}
    </>
  );
}
