// How a run stands, in words.
import { toNumber, type WireNumber } from "../shared/wire";
import type { Row, State } from "./types";

export const STATES: Record<State, string> = {
  starting: "starting",
  running: "training",
  stopping: "stopping",
  stopped: "stopped",
  killed: "killed",
  failed: "failed",
  finished: "finished",
};

/** The state in a sentence. */
export function stateWords(row: Row): string {
  if (row.state === "starting") return "starting: reading the data and loading PyTorch";
  if (row.state === "stopping") return "stopping: finishing the current step and saving";
  if (row.state === "killed") return "killed: the process ended without a message. The last checkpoint is intact, and resume continues from it";
  if (row.state === "stopped") return row.said || "stopped and saved";
  if (row.state === "failed") return row.said || "ended before training started";
  return STATES[row.state];
}

export const isGoing = (row: Row): boolean => ["starting", "running", "stopping"].includes(row.state);

/** A finished run whose rows the lab evaluates: one label for each text or image. */
export const isClassifier = (row: Row): boolean => row.state === "finished" && ["classify", "image"].includes(row.task ?? "");

/** The accuracy that stands for a run: the best, or the last so far. */
export function accuracyOf(row: Row): number {
  const found: WireNumber | undefined = row.best?.accuracy ?? row.last?.accuracy;
  return found === undefined ? NaN : toNumber(found);
}

export const epochsOf = (row: Row): string => (row.epochs ? `${row.epoch ?? 0}/${row.epochs}` : "");

/** `10` or `10, 30, 50`: the runs that come of it. */
export function namesFor(run: string, epochs: string): string[] {
  const counts = epochs.split(",").map((word) => String(Number(word.trim())));
  return counts.length > 1 ? counts.map((count) => `${run}/epochs-${count}`) : [run];
}
