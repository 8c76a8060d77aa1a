// The spec in the address: `spec` names a preset or a file, every field that was set stands beside it under its own name.

export interface Words {
  name: string;
  fields: Record<string, string>;
}

/** What is sent with every question. */
export interface Asked {
  spec: Words;
  convention: string;
}

export const DEFAULT = "bert-base";
export const SIZES = ["batch", "t", "u"]; // how much goes in: written like fields

/** A field of one stack of an encoder-decoder: encoder.layers. */
export const IN_STACK = /^(encoder|decoder)\.\w+$/;

export function wordsOf(query: URLSearchParams, names: Iterable<string>): Words {
  const fields: Record<string, string> = {};
  for (const name of [...names, ...SIZES]) {
    const value = query.get(name);
    if (value !== null) fields[name] = value;
  }
  for (const [name, value] of query) if (IN_STACK.test(name)) fields[name] = value;
  return { name: query.get("spec") || DEFAULT, fields };
}

/** `bert-base layers=8 heads=8` as on the command line. */
export function parseWords(text: string): Words {
  const [name = "", ...rest] = text.trim().split(/\s+/);
  const fields: Record<string, string> = {};
  for (const word of rest) {
    const [field = "", ...value] = word.split("=");
    fields[field] = value.join("=");
  }
  return { name, fields };
}

/** A value as one writes it: `none`, `true`, `q,k,v`. */
export function written(value: unknown): string {
  if (value === null || value === undefined) return "none";
  if (Array.isArray(value)) return value.length ? value.join(",") : "none";
  return String(value);
}

/** The ledger's name for a tensor of any layer: `layers.0.attention.W_Q` is a line `layers.*.attention.W_Q`. */
export const folded = (name: string): string => name.replace(/^((?:encoder|decoder)\.)?layers\.\d+(?=\.|$)/, "$1layers.*");
