// Made by web/wire_types.py from src/glassformer/lab/documents/train.py: do not edit.
import type { WireNumber } from "../shared/wire";

export type Number = WireNumber;

export type State = "starting" | "running" | "stopping" | "stopped" | "killed" | "failed" | "finished";

export interface Figures {
  loss: Number;
  accuracy: Number;
}

export interface BestFigures extends Figures {
  epoch: number;
}

export interface TestFigures {
  accuracy: WireNumber | null;
}

/** How far a run is. */
export interface Progress {
  ended: boolean;
  steps: number | null;
  step: number;
  epoch: number;
  last: Figures | null;
  best: BestFigures | null;
  test: TestFigures | null;
}

/** A run in the table. `title`: what the user calls it; `said`: the last line of its command; `trace`: it has weights. */
export interface Row extends Progress {
  name: string;
  title: string;
  archived: boolean;
  state: State;
  said: string;
  trace: boolean;
  data: string | null;
  task: string | null;
  parameters: number | null;
  start: string | null;
  epochs: number | null;
  lr: WireNumber | null;
}

export interface Rows {
  rows: Row[];
}

export interface Started {
  run: string;
  row: Row | null;
}

export interface StartPoint {
  kind: "start";
  steps: number | null;
  parameters: number | null;
}

export interface StepPoint extends Figures {
  kind: "step";
  step: number;
  epoch: number;
  lr: WireNumber | null;
  per_second: WireNumber | null;
}

export interface EpochPoint {
  kind: "epoch";
  step: number;
  epoch: number;
  train: Figures;
  validation: Figures;
  seconds: Number;
}

export interface EndPoint {
  kind: "end";
  step: number | null;
  epochs: number | null;
  best: BestFigures | null;
  test: WireNumber | null;
}

export type Point = StartPoint | StepPoint | EpochPoint | EndPoint;

/** What `glassformer curves` says of a run. */
export interface Verdict {
  epochs: number;
  best_accuracy: WireNumber;
  best_epoch: number;
  least_loss: WireNumber;
  turn: number | null;
  overfits: boolean;
  note: string;
}

export interface Points {
  run: string;
  void: boolean;
  points: Point[];
  verdict: Verdict | null;
}

export interface DataSet {
  name: string;
  title: string;
  task: string;
  rows: Record<string, number>;
  classes: number;
  to_beat: WireNumber | null;
  licence: string;
}

export interface Preset {
  name: string;
  doc: string;
}

export interface Field {
  name: string;
  doc: string;
  choices: string[];
  first: boolean;
}

export interface Setting {
  name: string;
  doc: string;
  choices: string[];
  default: unknown;
  optional: boolean;
  first: boolean;
  free: boolean;
}

export interface Options {
  sets: DataSet[];
  own: string[];
  presets: Preset[];
  folders: string[];
  fields: Field[];
  settings: Setting[];
  runs: string;
  example: string;
  most_shown: number;
  missing: string | null;
}

export interface Example {
  label: string | string[] | null;
  input: string | string[] | WireNumber[][][];
}

export type ShownTask = "classify" | "image" | "tag" | "mlm" | "translate";

export interface Sample {
  task: ShownTask;
  rows: Record<string, number>;
  labels: string[];
  notes: string[];
  licence: string;
  sample: Example[];
}

/** The change of the mean validation loss from the best weights of a run to its last, with its 95% interval over rows. */
export interface Overfitting {
  run: string;
  best_epoch: number;
  last_epoch: number;
  rows: number;
  change: WireNumber;
  low: WireNumber;
  high: WireNumber;
}

/** A wrong prediction: its row in the part, from 1, and what was read. */
export interface Mistake {
  row: number;
  true: string;
  predicted: string;
  probability: WireNumber;
  input: unknown;
}

/** A finished run on the test part of its data: the confusion matrix has true labels as rows. */
export interface Mistakes {
  run: string;
  part: string;
  rows: number;
  accuracy: WireNumber;
  low: WireNumber;
  high: WireNumber;
  labels: string[];
  confusion: number[][];
  task: string;
  worst: Mistake[];
}
