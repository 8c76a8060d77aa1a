import { expect, test } from "vitest";
import { openedIn } from "./Diagram";
import { folded, parseWords, wordsOf, written } from "./words";

test("the spec is what the address says", () => {
  expect(wordsOf(new URLSearchParams("spec=vit-b16&layers=6&tab=cost&t=5"), ["layers", "heads"])).toEqual({ name: "vit-b16", fields: { layers: "6", t: "5" } });
  expect(parseWords(" bert-base  layers=8 biases=q,k ")).toEqual({ name: "bert-base", fields: { layers: "8", biases: "q,k" } });
  expect([null, true, ["q", "k"], [], 3].map(written)).toEqual(["none", "true", "q,k", "none", "3"]);
  expect([folded("layers.11.ffn.W_1"), folded("layers.0"), folded("pooler")]).toEqual(["layers.*.ffn.W_1", "layers.*", "pooler"]);
});

test("the address says which blocks are open; where it says nothing, the server decides", () => {
  expect(openedIn(new URLSearchParams("open=layers.0&open=embeddings"))).toEqual(["layers.0", "embeddings"]);
  expect(openedIn(new URLSearchParams("open=none"))).toEqual([]);
  expect(openedIn(new URLSearchParams(""))).toBeNull();
});
