// The state of the page, all of it in the address.
import { change, query } from "../shared/place";

/** What the address says: sent with every question. */
export interface Where {
  model: string;
  spec: string;
  seed: number;
  text: string;
  target: string; // what the decoder of an encoder-decoder reads: words
  ids: string; // or token ids, with commas
  image: string;
  edits: string[];
  layer: number;
}

export const edits = (): string[] => query.value.getAll("edit");

/** What is sent with every question; `layer` matters only to a run that is too large to be kept whole. */
export function whereOf(layer: number): Where {
  const at = query.value;
  return {
    model: at.get("model") ?? "",
    spec: at.get("spec") ?? "",
    seed: Math.max(0, Math.trunc(Number(at.get("seed") ?? 0)) || 0),
    text: at.get("text") ?? "",
    target: at.get("target") ?? "",
    ids: at.get("ids") ?? "",
    image: at.get("image") ?? "",
    edits: edits(),
    layer,
  };
}

/** A new model or text: what was chosen in the old one means nothing any more. */
export const FORGET = { target: null, ids: null, at: null, edit: null, q: null, row: null, column: null, show: null } as const;

export function setEdits(next: string[]): void {
  change({ edit: next, ...(next.length ? {} : { show: null }) });
}
