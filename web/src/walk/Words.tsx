// The words of the sentence as buttons; a click chooses who asks.
import type { ComponentChildren } from "preact";
import { change } from "../shared/place";
import type { Piece } from "./forward";
import { Bar } from "./parts";
import { shown, type Told } from "./told";

interface WordsProps {
  told: Told;
  shares?: Float32Array; // tints the words
  look?: (t: number | null) => void; // which word the mouse or the focus is on
  below?: (piece: Piece, t: number) => ComponentChildren;
}

export function Words({ told, shares, look, below }: WordsProps) {
  const unknown = told.model.header.vocab.indexOf("[UNK]");
  return (
    <ol class="walk-pieces">
      {told.pieces.map((piece, t) => (
        <li onMouseEnter={look && (() => look(t))} onMouseLeave={look && (() => look(null))}>
          <button
            type="button"
            class={piece.id === unknown ? "walk-piece unknown" : "walk-piece"}
            style={shares && { "--share": shares[t]! }}
            aria-pressed={t === told.asks}
            onFocus={look && (() => look(t))}
            onBlur={look && (() => look(null))}
            onClick={() => change({ q: String(t) }, "replace")}
          >
            {shown(piece)}
          </button>
          {shares && <Bar share={shares[t]!} />}
          {below?.(piece, t)}
        </li>
      ))}
    </ol>
  );
}
