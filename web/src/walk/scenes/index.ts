// The eight scenes: one sentence of plain words, one picture with numbers of this sentence, one question.
import type { ComponentType } from "preact";
import type { Told } from "../told";
import { Answer } from "./answer";
import { Glance } from "./glance";
import { Mixing } from "./mixing";
import { Pieces } from "./pieces";
import { Rest } from "./rest";
import { Roles } from "./roles";
import { Scores } from "./scores";
import { Vectors } from "./vectors";

interface Scene {
  title: string;
  words: string;
  view: ComponentType<Told>;
}

export const SCENES: Scene[] = [
  { title: "At a glance", words: "A Transformer lets every word look at every other word and decide what matters.", view: Glance },
  { title: "Pieces", words: "Words become pieces from a fixed list, and each piece is a number.", view: Pieces },
  { title: "Vectors", words: "Each piece becomes a list of numbers; its place in the sentence is added.", view: Vectors },
  { title: "Three roles", words: "From each vector come three: what I ask, what I offer, what I say.", view: Roles },
  { title: "Scores", words: "A question times an offer is a score; softmax turns a row of scores into shares that add to 1.", view: Scores },
  { title: "Mixing", words: "The new vector is a mix of what the others say, weighted by those shares; several heads do this at once.", view: Mixing },
  { title: "The rest of the layer", words: "Add, normalise, transform each word alone; then again, layer after layer.", view: Rest },
  { title: "The answer", words: "A last matrix turns the mean of all vectors into the answer.", view: Answer },
];
