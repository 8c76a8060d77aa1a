// A value's arithmetic: its numbers, each a door, and its terms with a bar each.
import { Door } from "../shared/Door";
import { digits, full } from "../shared/format";
import { toNumber } from "../shared/wire";
import { unbroken, wordsOfTerms } from "./cells";
import type { Piece } from "../shared/cells";
import type { CellDocument } from "./types";

export function Pieces({ pieces }: { pieces: Piece[] }) {
  return (
    <>
      {unbroken(pieces).map((group) =>
        group.length === 1 && typeof group[0] === "string" ? (
          group[0]
        ) : (
          <span class="unbroken">
            {group.map((piece) =>
              typeof piece === "string" ? (
                piece
              ) : (
                <Door id={piece.id} value={piece.value} label={`${piece.text}: ${piece.label}`}>
                  {piece.text}
                </Door>
              ),
            )}
          </span>
        ),
      )}
    </>
  );
}

interface TermsProps {
  found: Pick<CellDocument, "terms" | "rest" | "how" | "value">;
  words?: (name: string, axis: string) => string[]; // along an axis of a tensor, where it counts words
}

export function Terms({ found, words = () => [] }: TermsProps) {
  const named = wordsOfTerms(found.terms.map((term) => term.parts), words);
  const most = Math.max(...found.terms.map((term) => Math.abs(toNumber(term.value))).filter(Number.isFinite), 0) || 1;
  const { how, rest } = found;
  if (found.terms.length === 0 || how.kind === "single") return null; // one term is the arithmetic above
  return (
    <>
      <h3>
        {`${found.terms.length + rest.terms} terms, largest first`}
      </h3>
      <div class="terms-frame">
        <table class="terms">
          <tbody>
            {found.terms.map((term, place) => (
              <tr class="term">
                {named[place] !== undefined && <td class="term-word">{named[place]}</td>}
                <td class="number term-value" title={full(term.value)} data-value={String(term.value)}>
                  {digits(term.value)}
                </td>
                <td class="term-bar" aria-hidden="true">
                  <span class={toNumber(term.value) < 0 ? "bar negative" : "bar"} style={{ width: `${(100 * Math.abs(toNumber(term.value))) / most}%` }} />
                </td>
                <td class="term-parts">
                  <Pieces pieces={term.parts} />
                </td>
              </tr>
            ))}
            {rest.terms > 0 && (
              <tr class="term">
                {named[0] !== undefined && <td />}
                <td class="number term-value" title={full(rest.sum)} data-value={String(rest.sum)}>
                  {digits(rest.sum)}
                </td>
                <td />
                <td class="note">sum of the other {rest.terms}</td>
              </tr>
            )}
          </tbody>
        </table>
      </div>
      <p class="cell-how" data-kind={how.kind} data-by={how.by === undefined ? undefined : String(how.by)} data-own={how.own === undefined ? undefined : String(how.own)}>
        {how.kind === "sum" && <>Sum: {digits(how.sum!)}.</>}
        {how.kind === "divided" && (
          <>
            Sum: {digits(how.sum!)}. Divided by {how.text}: {digits(found.value)}.
          </>
        )}
        {how.kind === "share" && (
          <>
            This term divided by the sum: {digits(how.own!)} / {digits(how.sum!)} = {digits(found.value)}.
          </>
        )}
      </p>
    </>
  );
}
