// Made by web/wire_types.py from src/glassformer/lab/documents/walk.py: do not edit.
import type { WireNumber } from "../shared/wire";

/** A small encoder: its sizes, its pieces in the order of their numbers, and sentences to start with. */
export interface Walk {
  d_model: number;
  heads: number;
  layers: number;
  d_ff: number;
  eps: WireNumber;
  parameters: number;
  vocab: string[];
  labels: string[];
  examples: string[];
  made: string;
}
