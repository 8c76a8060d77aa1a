// What a model that predicts tokens says at a position: the most probable ones. A model that writes goes on with any of them.
import { Door } from "../shared/Door";
import { share } from "../shared/format";
import { change } from "../shared/place";
import { toNumber } from "../shared/wire";
import { Beams } from "./Beams";
import { cellId } from "./cells";
import type { Next as NextToken, Opened } from "./types";
import type { Where } from "./where";

interface NextProps {
  opened: Opened;
  where: Where;
  asks: number;
  words: string[]; // the text along which it predicts
}

export function Next({ opened, where, asks, words }: NextProps) {
  const { next, name, axes } = opened.output;
  const listed = next[asks];
  if (!listed) return null;
  const two = opened.stacks.length > 1 && opened.ids.length > 0;
  const writes = two || (opened.predicts_next && opened.stacks.length === 1);
  const axis = axes.some(([one]) => one === "u") ? "u" : "t";
  const last = asks === words.length - 1;
  const forget = { edit: null, show: null, at: null };
  const take = ({ id, text }: NextToken) => change(two ? { ids: [...opened.ids.slice(0, asks + 1), id].join(","), q: String(asks + 1), ...forget } : { text, q: null, ...forget });
  const canTake = (one: NextToken) => (two ? !one.taken && !one.ends : one.text !== "");
  return (
    <section class="output next" aria-label="next token">
      <h2>
        {opened.predicts_next ? "Next token after" : "Prediction at"} “{words[asks]}”
      </h2>
      {writes && (
        <p class="next-steps">
          <button type="button" disabled={asks === 0} onClick={() => change({ q: String(asks - 1), row: null })}>
            ← back
          </button>{" "}
          <span class="note">
            token {asks + 1} of {words.length}
          </span>{" "}
          <button type="button" class="primary" disabled={last && !canTake(listed[0]!)} onClick={() => (last ? take(listed[0]!) : change({ q: String(asks + 1), row: null }))}>
            {last ? `write “${listed[0]!.token}”` : "next token →"}
          </button>
        </p>
      )}
      <div class="classes four">
        {listed.map((one) => (
          <>
            <span class={one.taken ? "class-name taken" : "class-name"} title={one.taken ? "the token that follows in the target" : undefined}>
              {one.token}
              {one.ends && <span class="note"> (end)</span>}
            </span>
            <span class="class-bars" aria-hidden="true">
              <span class="bar" style={{ width: `${100 * toNumber(one.probability)}%` }} />
              {one.before !== one.probability && <span class="bar was" style={{ width: `${100 * toNumber(one.before)}%` }} />}
            </span>
            <span class="number" data-testid="next-probability">
              <Door id={cellId(name, { [axis]: asks, vocab: one.id })} label={`${share(one.probability, 1)}: logit of ${one.token}`}>
                {share(one.probability, 1)}
              </Door>
              {one.before !== one.probability && <span class="note"> was {share(one.before, 1)}</span>}
            </span>
            <span>
              {canTake(one) && (
                <button type="button" class="quiet" aria-label={`take ${one.token}`} onClick={() => take(one)}>
                  take
                </button>
              )}
              {one.taken && <span class="note">in the text</span>}
            </span>
          </>
        ))}
      </div>
      {two && <Beams opened={opened} where={where} asks={asks} />}
    </section>
  );
}
