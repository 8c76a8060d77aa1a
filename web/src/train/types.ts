// What the server says on the train page.
import type { WireNumber } from "../shared/wire";

export type State = "starting" | "running" | "stopping" | "stopped" | "killed" | "failed" | "finished";

export interface Row {
  name: string;
  state: State;
  said: string; // the line with which the command ended
  trace: boolean; // whether there are weights to look into
  data?: string;
  task?: string;
  parameters?: number | null;
  start?: string | null; // the checkpoint that it began with
  epochs?: number | null;
  lr?: number;
  steps?: number | null;
  step?: number;
  epoch?: number;
  last?: { loss: WireNumber; accuracy: WireNumber } | null;
  best?: { loss: WireNumber; accuracy: WireNumber; epoch: number } | null;
  test?: { accuracy: WireNumber } | null;
}

interface Figures {
  loss: WireNumber;
  accuracy: WireNumber;
}

export type Point =
  | { kind: "start"; steps: number }
  | ({ kind: "step"; step: number; epoch: number; per_second?: number; lr?: number } & Figures)
  | { kind: "epoch"; step: number; epoch: number; train: Figures; validation: Figures; seconds: number }
  | { kind: "end"; step: number; epochs: number; test: WireNumber | null };

export interface Verdict {
  epochs: number;
  best_accuracy: WireNumber;
  best_epoch: number;
  least_loss: WireNumber;
  turn: number | null;
  overfits: boolean;
  note: string;
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
  sets: { name: string; title: string; task: string; rows: Record<string, number>; classes: number; to_beat: number | null; licence: string }[];
  own: string[];
  presets: { name: string; doc: string }[];
  folders: string[];
  fields: { name: string; doc: string; choices: string[]; first: boolean }[];
  settings: Setting[];
  runs: string;
  example: string;
  most_shown: number;
  missing: string | null;
}

export interface Sample {
  task: "classify" | "image" | "tag" | "mlm";
  rows: Record<string, number>;
  labels: string[];
  notes: string[];
  licence: string;
  sample: { label: string | string[] | null; input: string | string[] | number[][][] }[];
}
