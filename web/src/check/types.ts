// Made by web/wire_types.py from src/glassformer/lab/documents/check.py: do not edit.

export type Verdict = "right" | "wrong" | "carried" | "unclear" | "note" | "";

export interface Note {
  verdict: Verdict;
  name: string;
  code: string;
  hint: string;
  answer: string[];
}

export interface Line {
  number: number;
  place: string;
  parts: [string, Verdict][];
  mark: Verdict;
  notes: Note[];
}

export interface Checked {
  lines: Line[];
  left_out: number;
  counts: Record<string, number>;
  summary: string;
}

export interface ClaimMistake {
  name: string;
  codes: string[];
  sentences: string[];
  what: string[];
  near: boolean;
}

export interface Diagnosed {
  verdict: "right" | "convention" | "carried" | "wrong" | "unclear";
  headline: string;
  mistakes: ClaimMistake[];
  truth: string;
  derivation: string[];
  notes: string[];
}

export interface Claimed extends Diagnosed {
  question: string;
  spec: string;
  claim: string;
}

export interface Solution {
  name: string;
  about: string;
  text: string;
}

export interface QuizSet {
  name: string;
  title: string;
  about: string;
  questions: number;
}

export interface Known {
  solutions: Solution[];
  claims: string[];
  sets: QuizSet[];
}

export interface TextBlock {
  text: string;
}

export interface Option {
  letter: string;
  text: string;
}

export interface OptionsBlock {
  options: Option[];
}

export interface MatrixBlock {
  name: string;
  rows: string[][];
  row_names: string[];
  columns: string[];
}

export type Block = TextBlock | OptionsBlock | MatrixBlock;

export interface Question {
  id: string;
  number: number;
  marks: string;
  blocks: Block[];
  wanted: string;
  hints: number;
}

export interface Paper {
  set: string;
  title: string;
  seed: number;
  headline: string;
  questions: Question[];
}

export interface Mistake {
  code: string;
  name: string;
  sentence: string;
}

export interface SolutionStep {
  title: string;
  lines: string[];
}

/** A question that is over. */
export interface Finished {
  id: string;
  answer: string;
  verdict: string;
  right: boolean;
  says: string;
  won: string;
  of: string;
  mistakes: Mistake[];
  answer_is: string;
  solution: SolutionStep[];
  command: string;
}

export interface Again {
  again: true;
  verdict: string;
  says: string;
  used: number;
}

export interface Over extends Finished {
  again: false;
  used: number;
}

export type Judged = Again | Over;

export interface Hint {
  hint: string;
  left: number;
}

export interface Review {
  rows: Finished[];
  score: string;
  mistakes: string[];
}
