// Made by web/wire_types.py from src/glassformer/lab/documents/widget.py: do not edit.
import type { Diagram } from "../shared/records";
import type { WireNumber } from "../shared/wire";

/** The weights of the first head, row after row, of a window of tokens. */
export interface AttentionFirst {
  label: string;
  queries: string[];
  keys: string[];
  name: string;
  query_axis: string;
  layers: number[];
  heads: number[];
  weights: WireNumber[];
  window: number;
}

export interface ParameterLine {
  name: string;
  formula: string;
  numbers: string;
  count: WireNumber;
}

/** The diagram, and the parameters of each block that is closed in it. */
export interface EncoderFirst {
  label: string;
  parameters: WireNumber;
  diagram: Diagram;
  lines: Record<string, ParameterLine[]>;
}
