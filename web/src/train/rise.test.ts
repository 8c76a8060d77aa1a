import { expect, test } from "vitest";
import { verdictOf } from "./Rise";

const found = { run: "one", best_epoch: 9, last_epoch: 40, rows: 58, change: 0.184, low: 0.05, high: 0.33 };

test("overfitting is claimed only where the interval lies above 0", () => {
  expect(verdictOf(found)).toContain("above 0: the run overfits");
  expect(verdictOf({ ...found, low: -0.01 })).toContain("contains 0: on these rows the rise is not more than chance");
  expect(verdictOf({ ...found, change: -0.1, low: -0.2, high: -0.05 })).toContain("below 0: the later weights are better");
  expect(verdictOf({ ...found, last_epoch: 9 })).toContain("nothing later");
});
