import { expect, test } from "vitest";
import { change, changed, follow, goTo, path, query } from "./place";

test("a key is set, repeated and dropped", () => {
  const before = new URLSearchParams("spec=bert-base&at=a");
  expect(changed(before, { layers: "6" }).toString()).toBe("spec=bert-base&at=a&layers=6");
  expect(changed(before, { at: ["a", "b"] }).toString()).toBe("spec=bert-base&at=a&at=b");
  expect(changed(before, { at: null, spec: "" }).toString()).toBe("");
});

test("a click is a step in the history, a keystroke is not", () => {
  follow();
  goTo("/bench?spec=bert-base");
  const steps = history.length;
  change({ layers: "6" }, "replace");
  expect([path.value, query.value.get("layers"), history.length - steps]).toEqual(["/bench", "6", 0]);
  change({ tab: "cost" });
  expect([query.value.get("tab"), history.length - steps]).toEqual(["cost", 1]);
  change({ tab: "cost" });
  expect(history.length - steps).toBe(1);
});
