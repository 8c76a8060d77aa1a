// The walk's encoder in the page, in float32: two layers, post-norm, ReLU, mean, linear map. Names are those of `glassformer.run`.
import { toNumber, type Arrays } from "../shared/wire";
import type { Walk } from "./types";

export type Values = Record<string, Float32Array>;
export interface Edit {
  silent?: string; // "layer.head": its output becomes zero
}
export interface Piece {
  text: string;
  id: number;
  inside: boolean; // goes on within a word
}

/** WordPiece: the longest piece that fits, from left to right; as tokenizer.json says. */
export function pieces(text: string, vocab: Map<string, number>): Piece[] {
  const words = text.normalize("NFC").toLowerCase().match(/[\p{L}\p{M}\p{N}]+|[^\s\p{L}\p{M}\p{N}]/gu) ?? [];
  return words.flatMap((word) => {
    const found: Piece[] = [];
    const letters = [...word];
    for (let at = 0; at < letters.length; ) {
      let end = letters.length;
      const name = () => (at ? "##" : "") + letters.slice(at, end).join("");
      while (end > at && !vocab.has(name())) end--;
      if (end === at) return [{ text: word, id: vocab.get("[UNK]")!, inside: false }];
      found.push({ text: letters.slice(at, end).join(""), id: vocab.get(name())!, inside: at > 0 });
      at = end;
    }
    return found;
  });
}

const rows = (count: number, width: number, cell: (row: number, column: number) => number): Float32Array =>
  Float32Array.from({ length: count * width }, (_, i) => cell(Math.floor(i / width), i % width));

/** x W + b, row by row. */
function linear(x: Float32Array, weight: Float32Array, bias: Float32Array, inner: number): Float32Array {
  const width = bias.length;
  return rows(x.length / inner, width, (row, column) => {
    let sum = bias[column]!;
    for (let i = 0; i < inner; i++) sum += x[row * inner + i]! * weight[i * width + column]!;
    return sum;
  });
}

function norm(x: Float32Array, gamma: Float32Array, beta: Float32Array, eps: number): Float32Array {
  const width = gamma.length;
  const made = new Float32Array(x.length);
  for (let start = 0; start < x.length; start += width) {
    const row = x.subarray(start, start + width);
    const mean = row.reduce((sum, one) => sum + one, 0) / width;
    const variance = row.reduce((sum, one) => sum + (one - mean) ** 2, 0) / width;
    row.forEach((one, i) => (made[start + i] = ((one - mean) / Math.sqrt(variance + eps)) * gamma[i]! + beta[i]!));
  }
  return made;
}

const plus = (one: Float32Array, other: Float32Array): Float32Array => one.map((value, i) => value + other[i]!);

export function forward({ header, arrays }: Arrays<Walk>, ids: number[], edit: Edit = {}): Values {
  const weight = (name: string) => arrays[name]!.data;
  const width = header.d_model;
  const values: Values = {};
  const table = weight("embeddings.E_token");
  values["embeddings.token"] = rows(ids.length, width, (t, i) => table[ids[t]! * width + i]!);
  values["embeddings.position"] = rows(ids.length, width, (t, i) => (i % 2 ? Math.cos : Math.sin)(t / 10000 ** ((i - (i % 2)) / width)));
  let x = (values.x = plus(values["embeddings.token"], values["embeddings.position"]));
  for (let layer = 0; layer < header.layers; layer++) {
    const at = `layers.${layer}`;
    attend(values, x, weight, header, layer, edit);
    const first = (values[`${at}.sum_1`] = plus(x, values[`${at}.attention.out`]!));
    const middle = (values[`${at}.norm_1`] = norm(first, weight(`${at}.norm_1.gamma`), weight(`${at}.norm_1.beta`), toNumber(header.eps)));
    values[`${at}.ffn.hidden`] = linear(middle, weight(`${at}.ffn.W_1`), weight(`${at}.ffn.b_1`), width);
    values[`${at}.ffn.active`] = values[`${at}.ffn.hidden`]!.map((one) => Math.max(0, one));
    values[`${at}.ffn.out`] = linear(values[`${at}.ffn.active`]!, weight(`${at}.ffn.W_2`), weight(`${at}.ffn.b_2`), header.d_ff);
    const second = (values[`${at}.sum_2`] = plus(middle, values[`${at}.ffn.out`]!));
    x = values[`${at}.out`] = norm(second, weight(`${at}.norm_2.gamma`), weight(`${at}.norm_2.beta`), toNumber(header.eps));
  }
  values["pooler.mean"] = rows(1, width, (_, i) => ids.reduce((sum, __, t) => sum + x[t * width + i]!, 0) / ids.length);
  values["head.logits"] = linear(values["pooler.mean"], weight("head.W_C"), weight("head.b_C"), width);
  return values;
}

function attend(values: Values, x: Float32Array, weight: (name: string) => Float32Array, header: Walk, layer: number, edit: Edit): void {
  const at = `layers.${layer}.attention`;
  const { d_model: width, heads } = header;
  const [size, count] = [width / heads, x.length / width];
  for (const role of ["q", "k", "v"]) values[`${at}.${role}`] = linear(x, weight(`${at}.W_${role.toUpperCase()}`), weight(`${at}.b_${role.toUpperCase()}`), width);
  const [q, k, v] = ["q", "k", "v"].map((role) => values[`${at}.${role}`]!) as [Float32Array, Float32Array, Float32Array];
  const scores = (values[`${at}.scores`] = rows(heads * count, count, (row, s) => {
    const [head, t] = [Math.floor(row / count), row % count];
    let sum = 0;
    for (let i = 0; i < size; i++) sum += q[t * width + head * size + i]! * k[s * width + head * size + i]!;
    return sum / Math.sqrt(size);
  }));
  const weights = (values[`${at}.weights`] = softmax(scores, count));
  values[`${at}.mix`] = rows(count, width, (t, column) => {
    const head = Math.floor(column / size);
    if (edit.silent === `${layer}.${head}`) return 0;
    let sum = 0;
    for (let s = 0; s < count; s++) sum += weights[(head * count + t) * count + s]! * v[s * width + column]!;
    return sum;
  });
  values[`${at}.out`] = linear(values[`${at}.mix`]!, weight(`${at}.W_O`), weight(`${at}.b_O`), width);
}

/** Shares that add to 1, row by row. */
export function softmax(scores: Float32Array, width: number): Float32Array {
  const made = new Float32Array(scores.length);
  for (let start = 0; start < scores.length; start += width) {
    const row = scores.subarray(start, start + width);
    const top = Math.max(...row);
    const sum = row.reduce((total, one) => total + Math.exp(one - top), 0);
    row.forEach((one, i) => (made[start + i] = Math.exp(one - top) / sum));
  }
  return made;
}
