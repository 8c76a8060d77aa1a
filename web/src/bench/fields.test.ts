import { expect, test } from "vitest";
import { matching } from "./SpecForm";
import type { FieldRule } from "./types";

const rule = (name: string, doc: string, choices: string[] = []): FieldRule => ({ name, doc, kind: "choice", choices, optional: false }) as unknown as FieldRule;

test("a search finds names, explanations and choices, and names that begin with it come first", () => {
  const rules = [rule("dropout", "share of zeroed activations"), rule("d_ff", "inner width"), rule("position", "how places are told", ["learned", "rotary"]), rule("norm", "after or before")];
  const names = (sought: string) => matching(rules, sought).map(({ name }) => name);
  expect(names("d")).toEqual(["dropout", "d_ff", "position"]);
  expect(names("rotary")).toEqual(["position"]);
  expect(names("width inner")).toEqual(["d_ff"]);
  expect(names("nothing like it")).toEqual([]);
});
