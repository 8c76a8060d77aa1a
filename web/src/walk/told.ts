// What a scene is told: the model, the sentence, every tensor of its run, and which piece asks.
import type { Arrays } from "../shared/wire";
import { softmax, type Piece, type Values } from "./forward";
import type { Walk } from "./types";

export interface Told {
  model: Arrays<Walk>;
  text: string;
  pieces: Piece[];
  values: Values;
  asks: number; // the piece whose row is looked at
}

export const LAYER = 1; // the head that links words: head 0 of the last layer
const UNSEEN = /^[\p{Cf}\u{FE00}-\u{FE0F}]+$/u; // joiners and variation selectors, which emoji are full of

/** A piece as it is written: one that goes on within a word after dots, one that cannot be seen by its code. */
export function shown({ text, inside }: Piece): string {
  const name = UNSEEN.test(text) ? [...text].map((one) => `U+${one.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`).join(" ") : text;
  return inside ? `…${name}` : name;
}

/** True for a piece that is a whole word. */
export const isWord = (pieces: Piece[], t: number): boolean => !pieces[t]!.inside && !pieces[t + 1]?.inside && /[\p{L}\p{N}]/u.test(pieces[t]!.text);
export const row = (values: Float32Array, t: number, width: number): Float32Array => values.slice(t * width, (t + 1) * width);
export const scoresOf = ({ values, pieces, asks }: Told): Float32Array => row(values[`layers.${LAYER}.attention.scores`]!, asks, pieces.length);
export const sharesOf = ({ values, pieces, asks }: Told): Float32Array => row(values[`layers.${LAYER}.attention.weights`]!, asks, pieces.length);
export const largest = (list: ArrayLike<number>): number => Array.from(list).indexOf(Math.max(...Array.from(list)));

/** The class with the largest share, in words. */
export function answerOf({ model, values }: Told): string {
  const shares = softmax(values["head.logits"]!, model.header.labels.length);
  const best = largest(shares);
  return `${model.header.labels[best]}, ${(100 * shares[best]!).toFixed(1)} %`;
}

/** The same sentence and piece in Trace. */
export const traceOf = ({ text, asks }: Told, layer = LAYER, head = 0): string => `/trace?${new URLSearchParams({ model: "walk", text, layer: String(layer), head: String(head), q: String(asks) })}`;
