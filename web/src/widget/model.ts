// The kernel's side as the notebook hands it over (anywidget's model), and questions to it.
export interface Model {
  get(name: string): unknown;
  on(event: string, handle: (...given: never[]) => void): void;
  off(event: string, handle: (...given: never[]) => void): void;
  send(content: unknown): void;
}

export interface Reply {
  answer: Record<string, unknown>;
  values: Float32Array;
}

export type Ask = (question: Record<string, unknown>) => Promise<Reply>;

const PATIENCE = 15_000; // milliseconds

interface Said {
  id?: number;
  answer?: Record<string, unknown>;
  error?: string;
}

/** Questions with their answers; the second function forgets those that are open. */
export function asker(model: Model, patience = PATIENCE): [Ask, () => void] {
  let last = 0;
  const open = new Map<number, { done: (reply: Reply) => void; failed: (error: Error) => void; timer: ReturnType<typeof setTimeout> }>();
  const hear = ((said: Said, buffers: (DataView | ArrayBuffer)[] = []) => {
    const asked = said.id === undefined ? undefined : open.get(said.id);
    if (!asked) return;
    clearTimeout(asked.timer);
    open.delete(said.id!);
    if (said.answer) asked.done({ answer: said.answer, values: floats(buffers[0]) });
    else asked.failed(new Error(said.error ?? "the kernel returned no answer."));
  }) as (...given: never[]) => void;
  model.on("msg:custom", hear);
  const ask: Ask = (question) =>
    new Promise((done, failed) => {
      const id = ++last;
      const timer = setTimeout(() => {
        open.delete(id);
        failed(new Error("the notebook kernel is not responding. Run the cell again."));
      }, patience);
      open.set(id, { done, failed, timer });
      model.send({ ...question, id });
    });
  const forget = () => {
    model.off("msg:custom", hear);
    for (const { timer } of open.values()) clearTimeout(timer);
    open.clear();
  };
  return [ask, forget];
}

function floats(buffer: DataView | ArrayBuffer | undefined): Float32Array {
  if (!buffer) return new Float32Array();
  const bytes = buffer instanceof ArrayBuffer ? new Uint8Array(buffer) : new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  return new Float32Array(bytes.slice().buffer);
}
