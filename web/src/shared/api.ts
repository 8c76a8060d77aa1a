// Asking the server: with the key of this start, errors in one line, stale questions dropped.
import { useEffect, useRef, useState } from "preact/hooks";
import { eventReader } from "./events";
import { exported, stored } from "./exported";
import { key } from "./key";
import type { Known } from "./known";
import { unpack, type Arrays } from "./wire";

/** What the server told this page when it was let in. */
export const known: Known = { version: "", given: "", folders: [], address: "/bench" };

/** Asks to be let in; a page without the key gets a LabError with status 401. */
export async function enter(): Promise<void> {
  Object.assign(known, await json<Known>("/api/lab"));
}

/** What went wrong, in the command line's words; `field` where a field of the spec is to blame. */
export class LabError extends Error {
  constructor(
    message: string,
    readonly status = 0,
    readonly field: string | null = null,
  ) {
    super(message);
  }
}

const TRIES = 4; // a busy server says 429; a moment later it is not

const NOT_EXPORTED = "These pages are an export: the walk, and presets as they are. To change a field or open your own model, install Glassformer and run 'glassformer lab'.";

async function ask(url: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  if (exported) {
    const answer = await stored(url, body, signal);
    if (!answer?.ok) throw new LabError(NOT_EXPORTED);
    return answer;
  }
  const init: RequestInit =
    body === undefined
      ? { signal, headers: withKey() }
      : { method: "POST", signal, body: JSON.stringify(body), headers: { ...withKey(), "content-type": "application/json" } };
  for (let attempt = 1; ; attempt++) {
    let answer: Response;
    try {
      answer = await fetch(url, init);
    } catch (error) {
      if ((error as Error).name === "AbortError") throw error;
      throw new LabError("the lab is not responding. If it has stopped, start it again with 'glassformer lab'.");
    }
    if (answer.ok) return answer;
    if (answer.status === 429 && attempt < TRIES) {
      await new Promise((done) => setTimeout(done, 150 * 2 ** attempt));
      continue;
    }
    const said = (await answer.json().catch(() => ({}))) as { error?: string; field?: string | null };
    throw new LabError(said.error ?? `the lab returned status ${answer.status}.`, answer.status, said.field ?? null);
  }
}

/** GET (no body) or POST (a body) of JSON. */
export async function json<T>(url: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  return (await (await ask(url, body, signal)).json()) as T;
}

/** The same, answered with arrays (`arrays_answer` on the server). */
export async function arrays<H = Record<string, unknown>>(url: string, body?: unknown, signal?: AbortSignal): Promise<Arrays<H>> {
  return unpack<H>(await (await ask(url, body, signal)).arrayBuffer());
}

const withKey = (): Record<string, string> => ({ "x-glassformer-token": key() });
const PAUSE = 1000; // milliseconds before a stream that broke is asked for again

/** Events as they come (`events_answer` on the server); one that breaks is asked for again. Call what comes back to stop. */
export function listen(url: string, on: Record<string, (data: unknown) => void>, onLost?: () => void): () => void {
  const stop = new AbortController();
  let mark: string | undefined;
  const once = async (): Promise<boolean> => {
    const answer = await fetch(url, { signal: stop.signal, headers: { ...withKey(), accept: "text/event-stream", ...(mark ? { "last-event-id": mark } : {}) } });
    if (!answer.ok || !answer.body) return answer.status === 429;
    const read = eventReader();
    const pieces = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await pieces.read();
      if (done) return true;
      for (const event of read(value)) {
        if (stop.signal.aborted) return false;
        mark = event.id ?? mark;
        on[event.name]?.(JSON.parse(event.data));
      }
    }
  };
  const keep = async () => {
    for (let again = true; again && !stop.signal.aborted; ) {
      again = await once().catch(() => true);
      if (stop.signal.aborted) return;
      onLost?.();
      await new Promise((done) => setTimeout(done, PAUSE));
    }
  };
  void keep();
  return () => stop.abort();
}

export interface Answer<T> {
  value: T | undefined; // the last good answer: it stays while the next is on its way, or when that one is refused
  error: LabError | undefined;
  waiting: boolean;
}

/** Ask whenever url or body change (url null: nothing to ask). An answer that is no longer wanted is dropped. */
export function useAnswer<T>(url: string | null, body?: unknown, read: (url: string, body: unknown, signal: AbortSignal) => Promise<T> = json<T>): Answer<T> {
  const [state, setState] = useState<Answer<T>>({ value: undefined, error: undefined, waiting: url !== null });
  const reader = useRef(read);
  reader.current = read;
  const key = url === null ? null : `${url} ${JSON.stringify(body)}`;
  useEffect(() => {
    if (url === null) return;
    const stop = new AbortController();
    setState((before) => ({ ...before, waiting: true }));
    reader.current(url, body, stop.signal).then(
      (value) => stop.signal.aborted || setState({ value, error: undefined, waiting: false }),
      (error: Error) => stop.signal.aborted || setState((before) => ({ ...before, error: asLabError(error), waiting: false })),
    );
    return () => stop.abort();
  }, [key]);
  return state;
}

function asLabError(error: Error): LabError {
  return error instanceof LabError ? error : new LabError(error.message);
}
