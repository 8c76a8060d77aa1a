// A curve as its points come in: a run that was resumed goes back a little, and what came after that place is forgotten.
import { toNumber } from "../shared/wire";
import type { Point, Row, Verdict } from "./types";

export interface Epoch {
  epoch: number;
  step: number;
  trainLoss: number;
  validationLoss: number;
  trainAccuracy: number;
  validationAccuracy: number;
  seconds: number;
}

export interface Curve {
  steps: { step: number; loss: number; accuracy: number; perSecond?: number }[];
  epochs: Epoch[];
  total: number | null; // steps of the whole run
  test: number | null;
  verdict: Verdict | null;
}

export const NOTHING: Curve = { steps: [], epochs: [], total: null, test: null, verdict: null };

/** The curve with new points; the old one stays as it was. */
export function grown(before: Curve, points: Point[], verdict: Verdict | null = null): Curve {
  let { steps, epochs, total, test } = { ...before, steps: [...before.steps], epochs: [...before.epochs] };
  for (const point of points) {
    if (point.kind === "start") [steps, epochs, total, test] = [[], [], point.steps, null];
    else if (point.kind === "end") test = point.test === null ? null : toNumber(point.test);
    else {
      while (steps.length && steps[steps.length - 1]!.step >= point.step && point.kind === "step") steps.pop();
      if (point.kind === "step") {
        test = null;
        while (epochs.length && epochs[epochs.length - 1]!.step >= point.step) epochs.pop();
        steps.push({ step: point.step, loss: toNumber(point.loss), accuracy: toNumber(point.accuracy), perSecond: point.per_second === null ? undefined : toNumber(point.per_second) });
      } else {
        while (epochs.length && epochs[epochs.length - 1]!.epoch >= point.epoch) epochs.pop();
        epochs.push({
          epoch: point.epoch,
          step: point.step,
          trainLoss: toNumber(point.train.loss),
          validationLoss: toNumber(point.validation.loss),
          trainAccuracy: toNumber(point.train.accuracy),
          validationAccuracy: toNumber(point.validation.accuracy),
          seconds: toNumber(point.seconds),
        });
      }
    }
  }
  return { steps, epochs, total, test, verdict: verdict ?? (epochs.length ? before.verdict : null) };
}

/** Steps in an epoch: as measured, or as the length of the whole run says. */
export function stepsAnEpoch(curve: Curve, row: Row | undefined): number {
  const last = curve.epochs[curve.epochs.length - 1];
  if (last) return last.step / last.epoch;
  return curve.total && row?.epochs ? curve.total / row.epochs : 1;
}

/** Seconds that are left, as fast as it was up to the last epoch; null where nothing is known yet. */
export function secondsLeft(curve: Curve, row: Row | undefined): number | null {
  const last = curve.epochs[curve.epochs.length - 1];
  const total = row?.steps ?? curve.total;
  if (!last || !total || !row) return null;
  return (last.seconds / last.step) * Math.max(0, total - (row.step ?? last.step));
}

export function timeWords(seconds: number): string {
  const whole = Math.max(1, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.round(whole / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export interface Series {
  label: string;
  run: number; // which run's colour
  kind: "validation" | "training" | "steps";
  points: [number, number][];
}

/** The lines of one picture: validation solid, training dashed; of a single run also its steps, faint. */
export function seriesOf(runs: { name: string; curve: Curve; row: Row | undefined }[], what: "loss" | "accuracy"): Series[] {
  return runs.flatMap(({ name, curve, row }, run) => {
    const prefix = runs.length > 1 ? `${name} ` : "";
    const keys = what === "loss" ? (["trainLoss", "validationLoss"] as const) : (["trainAccuracy", "validationAccuracy"] as const);
    const line = (key: (typeof keys)[number]): [number, number][] => curve.epochs.map((epoch) => [epoch.epoch, epoch[key]]);
    const made: Series[] = [
      { label: `${prefix}validation`, run, kind: "validation", points: line(keys[1]) },
      { label: `${prefix}training`, run, kind: "training", points: line(keys[0]) },
    ];
    if (runs.length > 1) return made;
    const each = stepsAnEpoch(curve, row);
    return [...made, { label: "each step", run, kind: "steps", points: curve.steps.map((step) => [step.step / each, step[what]]) }];
  });
}

/** uPlot wants one x for all lines: every place that any line has, null where a line has none. */
export function aligned(series: Series[]): [number[], ...(number | null)[][]] {
  const x = [...new Set(series.flatMap((line) => line.points.map(([at]) => at)))].sort((left, right) => left - right);
  const place = new Map(x.map((at, index) => [at, index]));
  const columns = series.map((line) => {
    const column: (number | null)[] = x.map(() => null);
    for (const [at, value] of line.points) column[place.get(at)!] = Number.isFinite(value) ? value : null;
    return column;
  });
  return [x, ...columns];
}

type Pixels = [x: number, y: number][];

/** Whether a line through these points enters a box. */
function enters(line: Pixels, [left, top, right, bottom]: [number, number, number, number]): boolean {
  return line.slice(1).some(([x2, y2], i) => {
    const [x1, y1] = line[i]!;
    const [from, to] = [Math.max(x1, left), Math.min(x2, right)];
    if (from > to) return false;
    const at = (x: number) => (x2 === x1 ? y1 : y1 + ((y2 - y1) * (x - x1)) / (x2 - x1));
    return Math.max(at(from), at(to)) >= top && Math.min(at(from), at(to)) <= bottom;
  });
}

/** The baseline of words of this size near the point (x, y), between top and bottom: the nearest that no line crosses, or right above it. */
export function clearOf(lines: Pixels[], [x, y]: [number, number], [wide, tall]: [number, number], [top, bottom]: [number, number]): number {
  for (let away = tall; away < bottom - top; away += tall / 2)
    for (const base of [y - away, y + away + tall])
      if (base - tall >= top && base <= bottom && !lines.some((line) => enters(line, [x - wide / 2, base - tall, x + wide / 2, base]))) return base;
  return y - tall >= top + tall ? y - tall : y + 2 * tall;
}
