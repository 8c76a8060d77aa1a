// What the server says on the check page.

export type Verdict = "right" | "wrong" | "carried" | "unclear" | "note" | "";

export interface Note {
  verdict: Verdict;
  name: string; // the mistake by its name, or what is to be said about something right
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

export interface Claimed {
  question: string;
  spec: string;
  claim: string;
  verdict: "right" | "convention" | "wrong";
  headline: string;
  mistakes: { name: string; codes: string[]; sentences: string[]; what: string[]; near: boolean }[];
  truth: string;
  derivation: string[];
  notes: string[];
}

export interface Known {
  solutions: { name: string; about: string; text: string }[];
  claims: string[];
  sets: { name: string; title: string; about: string; questions: number }[];
}

export type Block =
  | { text: string }
  | { options: { letter: string; text: string }[] }
  | { name: string; rows: string[][]; row_names: string[]; columns: string[] };

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

export interface Finished {
  id: string;
  answer: string;
  verdict: string;
  right: boolean;
  says: string;
  won: number | string;
  of: number | string;
  mistakes: { code: string; name: string; sentence: string }[];
  answer_is: string;
  solution: { title: string; lines: string[] }[];
  command: string;
}

export type Judged = ({ again: true; verdict: string; says: string; used: number } | ({ again: false; used: number } & Finished));

export interface Review {
  rows: Finished[];
  score: string;
  mistakes: string[];
}
