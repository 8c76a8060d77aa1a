// Scene 2: words become pieces from a list, and pieces become numbers.
import { useId, useState } from "preact/hooks";
import type { Piece } from "../forward";
import { pieces as piecesOf } from "../forward";
import { Laid, NowYou, useOpened } from "../parts";
import { shown, vocabOf, type Told } from "../told";
import { Words } from "../Words";

const NEAR = 4; // entries of the list shown on each side of a piece

export function Pieces(told: Told) {
  const [opened, open] = useOpened();
  const { vocab } = told.model.header;
  const chosen = told.pieces[told.asks]!.id;
  const first = Math.max(0, Math.min(chosen - NEAR, vocab.length - 2 * NEAR - 1));
  const say = ({ text, id, inside }: Piece) => {
    if (vocab[id] === "[UNK]") return `“${text}” is not in the list: it becomes entry ${id}, “[UNK]”, which stands for everything unknown.`;
    return `“${text}” is entry ${id} of a list of ${vocab.length.toLocaleString("en")} pieces${inside ? "; the dots say that it continues a word" : ""}.`;
  };
  return (
    <Laid opened={opened} ask={<AskPieces {...told} />}>
      <Words
        told={told}
        below={(piece) => (
          <button type="button" class="door" aria-label={`${piece.text}: number ${piece.id}`} onClick={() => open(<>{say(piece)}</>)}>
            {piece.id}
          </button>
        )}
      />
      <p class="note">Where “{shown(told.pieces[told.asks]!)}” stands in the list of {vocab.length.toLocaleString("en")} pieces:</p>
      <ol class="walk-list">
        {vocab.slice(first, first + 2 * NEAR + 1).map((piece, place) => (
          <li class={first + place === chosen ? "chosen" : ""}>
            <span>{first + place}</span> {piece.replace(/^##/, "…")}
          </li>
        ))}
      </ol>
    </Laid>
  );
}

/** A rare word in the script of the sentence. */
function rareWord(text: string): string {
  if (/\p{Script=Devanagari}/u.test(text)) return "अविश्वसनीय";
  return /[àâçéèêëîïôùûœ]/i.test(text) ? "incroyablement" : "unbelievable";
}

function AskPieces(told: Told) {
  const own = useId();
  const rare = rareWord(told.text);
  const [typed, type] = useState(rare);
  const vocab = vocabOf(told);
  const count = piecesOf(rare, vocab).length;
  return (
    <NowYou question={`into how many pieces is “${rare}” split?`} options={["1", "2", "3", "more"]} right={Math.min(count, 4) - 1}>
      <p>A frequent word is in the list as it is; a rare one is built from the longest pieces that fit. Try another word:</p>
      <label class="unseen" for={own}>
        a word
      </label>
      <input id={own} value={typed} maxLength={40} onInput={(event) => type(event.currentTarget.value)} />
      <ol class="walk-pieces walk-tried">
        {piecesOf(typed, vocab).map((piece) => (
          <li>
            <span class="walk-piece">{shown(piece)}</span>
            <span class="note">{piece.id}</span>
          </li>
        ))}
      </ol>
    </NowYou>
  );
}
