import { expect, test } from "vitest";
import { labels } from "./Opened";
import { inOrder } from "./Steps";
import type { PageDocument } from "./types";

test("the two sides stand as in the product, and the sizes that must meet are marked", () => {
  const found = inOrder({ product: "W_Q x", left: "x", left_size: "3 × 6", right: "W_Q", right_size: "2 × 4" });
  expect(found.map((side) => [side.name, side.size[side.inner]])).toEqual([["W_Q", "4"], ["x", "3"]]);
  const turned = inOrder({ product: "q kᵀ", left: "q", left_size: "2 × 3", right: "k", right_size: "5 × 4" });
  expect(turned.map((side) => [side.name, side.size[side.inner]])).toEqual([["q", "3"], ["k", "4"]]);
  const vector = inOrder({ product: "q kᵀ", left: "q", left_size: "3 numbers", right: "k", right_size: "5 × 4" });
  expect(vector[0]!.size[vector[0]!.inner]).toBe("3 numbers");
});

test("cells are called by the names of their rows and columns, and counted from 1 where there are none", () => {
  const grid = { sheet: "", rows: ["flying"], columns: [], cells: [[["1", "k[s=0,d_k=0]"], ["2", "k[s=0,d_k=1]"]]] as [string, string][][] };
  const page = { given: [{ name: "k", latex: "k", words: null, grids: [grid] }], steps: [] } as unknown as PageDocument;
  expect([...labels(page).values()]).toEqual(["k[flying, 1]", "k[flying, 2]"]);
  expect(labels(null).size).toBe(0);
});
