import { expect, test } from "vitest";
import { aligned, clearOf, grown, NOTHING, secondsLeft, seriesOf, stepsAnEpoch, timeWords } from "./curve";
import { ringsOf } from "./Curves";
import type { Point, Row, Verdict } from "./types";

const step = (number: number, loss: number): Point => ({ kind: "step", step: number, epoch: 1, loss, accuracy: 0.5, lr: null, per_second: null });
const epoch = (number: number, at: number, loss: number): Point => ({
  kind: "epoch",
  step: at,
  epoch: number,
  train: { loss: loss / 2, accuracy: 0.9 },
  validation: { loss, accuracy: 0.8 },
  seconds: at / 10,
});
const row = { name: "a", state: "running", said: "", trace: false, epochs: 4, steps: 40, step: 20 } as Row;

test("points add up", () => {
  const curve = grown(grown(NOTHING, [{ kind: "start", steps: 40, parameters: null }, step(5, 2)]), [step(10, 1), epoch(1, 10, 1.5)]);
  expect(curve.steps.map((point) => point.step)).toEqual([5, 10]);
  expect(curve.epochs.map((point) => point.validationLoss)).toEqual([1.5]);
  expect(curve.total).toBe(40);
});

test("a run that was resumed goes back, and what came after is forgotten", () => {
  const before = grown(NOTHING, [{ kind: "start", steps: 40, parameters: null }, step(10, 2), epoch(1, 10, 1.5), step(20, 1), epoch(2, 20, 1.2)]);
  const after = grown(before, [step(20, 0.5)]);
  expect(after.steps.map((point) => point.loss)).toEqual([2, 0.5]);
  expect(after.epochs.length).toBe(1);
  expect(before.epochs.length).toBe(2);
});

test("a loss that is no number leaves a gap, and nothing breaks", () => {
  const curve = grown(NOTHING, [step(5, 2), { kind: "step", step: 10, epoch: 1, loss: "NaN", accuracy: 0.1, lr: null, per_second: null }]);
  const [x, validation, training, steps] = aligned(seriesOf([{ name: "a", curve, row }], "loss"));
  expect([x.length, validation, training]).toEqual([2, [null, null], [null, null]]);
  expect(steps).toEqual([2, null]);
});

test("several runs share one axis, without their steps", () => {
  const one = grown(NOTHING, [step(5, 3), epoch(1, 10, 1), epoch(2, 20, 0.5)]);
  const two = grown(NOTHING, [epoch(1, 10, 2)]);
  const series = seriesOf([{ name: "a", curve: one, row }, { name: "b", curve: two, row }], "loss");
  expect(series.map((line) => line.label)).toEqual(["a validation", "a training", "b validation", "b training"]);
  expect(aligned(series)).toEqual([[1, 2], [1, 0.5], [0.5, 0.25], [2, null], [1, null]]);
});

test("time is what the last epoch says", () => {
  const curve = grown(NOTHING, [{ kind: "start", steps: 40, parameters: null }, epoch(1, 10, 1)]);
  expect([stepsAnEpoch(curve, row), secondsLeft(curve, row)]).toEqual([10, 2]);
  expect([timeWords(0.2), timeWords(61), timeWords(3700)]).toEqual(["1 s", "1 min", "1 h 2 min"]);
  expect(secondsLeft(NOTHING, row)).toBeNull();
});

test("the ring stands where the server says that the best epoch is, and nowhere else", () => {
  const verdict: Verdict = { epochs: 3, best_accuracy: 0.8, best_epoch: 2, least_loss: 0.5, turn: null, overfits: false, note: "" };
  const curve = grown(NOTHING, [epoch(1, 10, 1), epoch(2, 20, 0.5), epoch(3, 30, 0.7)], verdict);
  const stale = { ...row, best: { loss: 1, accuracy: 0.8, epoch: 1 } }; // of a run that was resumed after its end
  expect(ringsOf([{ name: "a", curve, row: stale }], "accuracy")).toEqual([{ x: 2, y: 0.8, run: 0, words: "80.0%" }]);
  expect(ringsOf([{ name: "a", curve, row: stale }], "loss")).toEqual([]);
  expect(ringsOf([{ name: "a", curve: { ...curve, verdict: null }, row }], "accuracy")).toEqual([]);
});

test("words stand where no line crosses them, as near as they can", () => {
  const size: [number, number] = [40, 10];
  const within: [number, number] = [0, 200];
  expect(clearOf([], [100, 100], size, within)).toBe(90);
  expect(clearOf([[[0, 85], [200, 85]]], [100, 100], size, within)).toBe(120); // below the point
  expect(clearOf([[[0, 85], [200, 85]], [[0, 115], [200, 115]]], [100, 100], size, within)).toBe(80); // above that line
  expect(clearOf([[[0, 85], [70, 85]]], [100, 100], size, within)).toBe(90); // it ends before the words begin
  expect(clearOf([[[90, 0], [110, 200]]], [100, 100], size, within)).toBe(90); // nowhere is better: right above
  expect(clearOf([], [100, 5], size, within)).toBe(25); // no room above
});
