// Made by web/wire_types.py from records of src/glassformer: do not edit.

/** Boxes and arrows in pixels, top to bottom; an open block comes before its content. */
export interface Diagram {
  label: string;
  width: number;
  height: number;
  boxes: Box[];
  arrows: Arrow[];
}

/** A block, a step, the circle of a sum, or text without a frame. */
export interface Box {
  name: string;
  kind: "words" | "sum" | "step" | "block";
  part: "embedding" | "attention" | "feed-forward" | "norm" | "head" | null;
  title: string;
  pieces: [string, boolean][];
  note: string;
  parameters: number;
  shape: string;
  open: boolean | null;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A tensor as a line through points; its shape is written to the left of the point `at`. */
export interface Arrow {
  source: string;
  target: string;
  points: [number, number][];
  label: string;
  at: [number, number];
  head: [number, number][];
}
