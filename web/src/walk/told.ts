// What a scene is told: the model, the sentence, every tensor of its run, and which piece asks.
import type { Arrays } from "../shared/wire";
import { forward, pieces as piecesOf, softmax, type Edit, type Piece, type Values } from "./forward";
import type { Walk } from "./types";

export interface Told {
  model: Arrays<Walk>;
  text: string;
  pieces: Piece[];
  values: Values;
  asks: number; // the piece whose row is looked at
}

export const LAYER = 1; // the head that links words: head 0 of the last layer
const LETTERS = 3; // of a word that is asked about
const UNSEEN = /^[\p{Cf}\u{FE00}-\u{FE0F}]+$/u; // joiners and variation selectors, which emoji are full of

/** A piece as it is written: one that goes on within a word after dots, one that cannot be seen by its code. */
export function shown({ text, inside }: Piece): string {
  const name = UNSEEN.test(text) ? [...text].map((one) => `U+${one.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`).join(" ") : text;
  return inside ? `…${name}` : name;
}

/** True for a piece that is a whole word. */
export const isWord = (pieces: Piece[], t: number): boolean => !pieces[t]!.inside && !pieces[t + 1]?.inside && /[\p{L}\p{N}]/u.test(pieces[t]!.text);
/** True for a whole word of some letters: one that is worth asking about. */
export const isAsked = (pieces: Piece[], t: number): boolean => isWord(pieces, t) && pieces[t]!.text.length >= LETTERS;
export const row = (values: Float32Array, t: number, width: number): Float32Array => values.slice(t * width, (t + 1) * width);
export const scoresOf = ({ values, pieces, asks }: Told): Float32Array => row(values[`layers.${LAYER}.attention.scores`]!, asks, pieces.length);
export const sharesOf = ({ values, pieces, asks }: Told): Float32Array => row(values[`layers.${LAYER}.attention.weights`]!, asks, pieces.length);
export const largest = (list: ArrayLike<number>): number => Array.from(list).indexOf(Math.max(...Array.from(list)));
export const vocabOf = ({ model }: Told): Map<string, number> => new Map(model.header.vocab.map((piece, id) => [piece, id]));

/** The places of some numbers, largest first. */
export const byLargest = (values: ArrayLike<number>): number[] => Array.from(values, (_, s) => s).sort((one, other) => values[other]! - values[one]!);

/** The mean of all heads of a layer: from each row, what it takes of every column. */
export function meanWeights({ values, pieces, model }: Told, layer: number): Float32Array {
  const { heads } = model.header;
  const all = values[`layers.${layer}.attention.weights`]!;
  const size = pieces.length ** 2;
  return Float32Array.from({ length: size }, (_, i) => Array.from({ length: heads }, (__, head) => all[head * size + i]!).reduce((sum, one) => sum + one, 0) / heads);
}

/** The share of each class. */
export const classesOf = ({ model, values }: Told): Float32Array => softmax(values["head.logits"]!, model.header.labels.length);

/** The class with the largest share, in words. */
export function answerOf(told: Told): string {
  const shares = classesOf(told);
  const best = largest(shares);
  return `${told.model.header.labels[best]}, ${(100 * shares[best]!).toFixed(1)}%`;
}

/** The same model on other pieces, or with something changed on the way. */
export const rerun = (told: Told, pieces: Piece[], edit: Edit = {}): Told => ({ ...told, pieces, values: forward(told.model, pieces.map(({ id }) => id), edit) });
export const runOn = (told: Told, text: string): Told => ({ ...rerun(told, piecesOf(text, vocabOf(told))), text });

/** The same sentence and piece in Trace. */
export const traceOf = ({ text, asks }: Told, layer = LAYER, head = 0): string => `/trace?${new URLSearchParams({ model: "walk", text, layer: String(layer), head: String(head), q: String(asks) })}`;
