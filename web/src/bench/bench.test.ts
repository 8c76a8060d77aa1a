import { expect, test } from "vitest";
import { layOut, rowsOf, shortShape } from "./layout";
import { treeOf } from "./Ledger";
import type { Block, LedgerLine } from "./types";
import { folded, parseWords, wordsOf, written } from "./words";

const block = (name: string, inputs: string[], more: Partial<Block> = {}): Block => ({
  name, output: name, title: name, part: "attention", parameters: 1, shape: "t × d_k = 5 × 2, each of 3 heads", inputs, blocks: [], ...more,
});

test("the spec is what the address says", () => {
  expect(wordsOf(new URLSearchParams("spec=vit-b16&layers=6&tab=cost&t=5"), ["layers", "heads"])).toEqual({ name: "vit-b16", fields: { layers: "6", t: "5" } });
  expect(parseWords(" bert-base  layers=8 biases=q,k ")).toEqual({ name: "bert-base", fields: { layers: "8", biases: "q,k" } });
  expect([null, true, ["q", "k"], [], 3].map(written)).toEqual(["none", "true", "q,k", "none", "3"]);
  expect([folded("layers.11.ffn.W_1"), folded("layers.0"), folded("pooler")]).toEqual(["layers.*.ffn.W_1", "layers.*", "pooler"]);
});

test("what does not read one another stands side by side", () => {
  const steps = [block("q", ["x"]), block("k", ["x"]), block("v", ["x"]), block("scores", ["q", "k"]), block("mix", ["scores", "v"])];
  expect(rowsOf(steps).map((row) => row.map((item) => item.name))).toEqual([["q", "k", "v"], ["scores"], ["mix"]]);
});

test("a line that comes from the right has no block in its way, and titles fit beside one another", () => {
  const steps = [
    block("q", ["x"]), block("k", ["x"]), block("v", ["x"]), block("k_shared", ["k"]), block("v_shared", ["v"]),
    block("scores", ["q", "k_shared"]), block("k_relative", ["table"]), block("content_to_position", ["k_relative"]), block("q_relative", ["table"]),
  ];
  expect(rowsOf(steps).map((row) => row.map((item) => item.name))).toEqual([
    ["q", "k", "v"], ["k_shared", "v_shared"], ["scores"], ["k_relative"], ["content_to_position"], ["q_relative"],
  ]);
});

test("the values run around the scores, and nothing overlaps", () => {
  const steps = [block("q", ["x"]), block("k", ["x"]), block("v", ["x"]), block("scores", ["q", "k"]), block("mix", ["scores", "v"])];
  const outer = block("attention", ["x"], { blocks: steps });
  const closed = layOut({ inputs: [], blocks: [outer] }, new Set());
  const open = layOut({ inputs: [], blocks: [outer] }, new Set(["attention"]));
  expect(closed.placed).toHaveLength(1);
  expect(open.placed).toHaveLength(6);
  expect(open.lines.filter((line) => line.around)).toHaveLength(1);
  const [around, ...inner] = open.placed;
  for (const item of inner) {
    expect(item.x).toBeGreaterThan(around!.x);
    expect(item.x + item.width).toBeLessThan(around!.x + around!.width);
    expect(item.y + item.height).toBeLessThan(around!.y + around!.height);
  }
  expect(open.height).toBeGreaterThan(closed.height);
});

test("shapes are short on arrows", () => {
  expect(shortShape("t × d_k = 512 × 64, each of 12 heads")).toBe("512 × 64 · 12 heads");
  expect(shortShape("t × d_k = 512 × 64, each of 12 heads", true)).toBe("12 × (512 × 64)");
  expect(shortShape("t = 5")).toBe("5");
});

test("the icicle's levels add up", () => {
  const line = (name: string, count: number, part: string): LedgerLine => ({ name, count, part, kind: "weight", times: 1, formula: "", numbers: "", frozen: false, also: [] });
  const tree = treeOf([line("embeddings.E_token", 7, "embedding"), line("layers.*.attention.W_Q", 3, "attention"), line("layers.*.ffn.W_1", 5, "ffn")]);
  expect(tree.map((node) => [node.name, node.value, node.part])).toEqual([["embeddings", 7, "embedding"], ["layers", 8, "layer"]]);
  expect(tree[1]!.children.map((node) => node.name)).toEqual(["layers.*.attention", "layers.*.ffn"]);
});
