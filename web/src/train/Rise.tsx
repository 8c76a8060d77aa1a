// Overfitting: what the curve shows, and, on request, whether a bootstrap over validation rows supports it.
import { useState } from "preact/hooks";
import { useAnswer } from "../shared/api";
import { digits } from "../shared/format";
import { Shown } from "../shared/States";
import { toNumber } from "../shared/wire";
import type { Watched } from "./Curves";
import { titleOf } from "./Runs";
import type { Options, Overfitting } from "./types";
import { isClassifier } from "./words";

export function Rise({ watched: { name, row, curve }, options }: { watched: Watched; options: Options }) {
  const least = curve.epochs.find((one) => one.epoch === curve.verdict!.turn);
  const last = curve.epochs.at(-1);
  if (!least || !last) return null;
  return (
    <div class="train-verdict">
      <p>
        {titleOf(name, options, row)}: after epoch {least.epoch} the validation loss rose from {digits(least.validationLoss)} to {digits(last.validationLoss)} while the training loss still fell.
      </p>
      {row && isClassifier(row) ? <Tested run={name} /> : <p>This is how overfitting looks; whether the rise is more than chance was not tested.</p>}
    </div>
  );
}

/** The claim is made only where the interval lies above 0. */
function Tested({ run }: { run: string }) {
  const [open, setOpen] = useState(false);
  const answer = useAnswer<Overfitting>(open ? "/api/train/overfitting" : null, { run });
  if (!open) {
    return (
      <button type="button" onClick={() => setOpen(true)}>
        is the rise more than chance?
      </button>
    );
  }
  return <Shown answer={answer}>{(found) => <p data-testid="overfitting">{verdictOf(found)}</p>}</Shown>;
}

export function verdictOf({ best_epoch, last_epoch, rows, change, low, high }: Overfitting): string {
  if (best_epoch === last_epoch) return `The last epoch (${last_epoch}) has the best weights: there is nothing later to compare them with.`;
  const measured = `From the weights of epoch ${best_epoch} (best accuracy) to those of epoch ${last_epoch}, the mean loss of the ${rows} validation rows changes by ${digits(change)} (95% bootstrap interval over rows: ${digits(low)} to ${digits(high)}).`;
  if (toNumber(low) > 0) return `${measured} The interval is above 0: the run overfits.`;
  if (toNumber(high) < 0) return `${measured} The interval is below 0: the later weights are better by this measure.`;
  return `${measured} The interval contains 0: on these rows the rise is not more than chance.`;
}
