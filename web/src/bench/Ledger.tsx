// The ledger: every tensor with its formula and its count, as a table and as an icicle.
import { partColour } from "../shared/colours";
import { Door } from "../shared/Door";
import { count, share } from "../shared/format";
import { toNumber, type WireNumber } from "../shared/wire";
import { openDoor } from "../shared/Door";
import type { Derived, LedgerLine, Slice } from "./types";

/** `brief`: in the panel, where the names' beginnings are known and room is short. */
export function LedgerTable({ lines, total, brief = false }: { lines: LedgerLine[]; total?: WireNumber; brief?: boolean }) {
  const whole = total ?? lines.reduce((sum, line) => sum + toNumber(line.count), 0);
  const repeated = lines.some((line) => line.times > 1);
  return (
    <div class="wide ledger">
      <table class="rows">
        <thead>
          <tr>
            <th scope="col">tensor</th>
            <th scope="col" class="number">
              count
            </th>
            {repeated && (
              <th scope="col" class="number" title="in each layer">
                each
              </th>
            )}
            {!brief && (
              <th scope="col" class="number share">
                share
              </th>
            )}
            <th scope="col" class="sizes">
              sizes
            </th>
            {!brief && (
              <th scope="col" class="formula">
                formula
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <tr key={line.name}>
              <td>
                <div class="tensor">
                  <span class="dot" style={{ background: partColour(line.part) }} />
                  <div>
                    <span class="mono" title={line.name}>
                      {brief ? line.name.split(".").slice(-1) : parted(line.name)}
                    </span>
                    {line.frozen && <span class="soft"> (not trained)</span>}
                    {line.also.length > 0 && (
                      <span class="soft also" title={line.also.join(", ")}>
                        also {parted(line.also[0]!)}
                        {line.also.length > 1 && ", …"}
                      </span>
                    )}
                  </div>
                </div>
              </td>
              <td class="number">
                <Door id={line.name} label={`${line.name}: ${count(line.count)}`}>
                  {count(line.count)}
                </Door>
              </td>
              {repeated && <td class="number each">{line.times > 1 && count(toNumber(line.count) / line.times)}</td>}
              {!brief && <td class="number share">{share(line.count, whole)}</td>}
              <td class="sizes" title={line.formula}>
                {line.numbers}
              </td>
              {!brief && <td class="formula">{line.formula}</td>}
            </tr>
          ))}
          {total !== undefined && (
            <tr class="total">
              <td>total</td>
              <td class="number">
                <Door id="parameters" label={`all parameters: ${count(total)}`}>
                  {count(total)}
                </Door>
              </td>
              <td colSpan={4} />
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}

/** A name that may go on in a new line after each dot. */
const parted = (name: string) =>
  name.split(".").map((part, place) => (
    <>
      {place > 0 && (
        <>
          .<wbr />
        </>
      )}
      {part}
    </>
  ));

export function Icicle({ derived }: { derived: Derived }) {
  const levels: { node: Slice; from: number }[][] = [];
  const walk = (nodes: Slice[], depth: number, from: number) => {
    for (const node of nodes) {
      (levels[depth] ??= []).push({ node, from });
      walk(node.parts, depth + 1, from);
      from += toNumber(node.count);
    }
  };
  walk(derived.icicle.parts, 0, 0);
  const total = toNumber(derived.total) || 1;
  return (
    <figure class="icicle" aria-label={`where the ${count(derived.total)} parameters are`}>
      {levels.map((level) => (
        <div class="icicle-level">
          {level
            .filter(({ node }) => toNumber(node.count) / total > 0.002)
            .map(({ node, from }) => (
              <button
                type="button"
                class="icicle-cell"
                key={node.name}
                style={{ left: `${(100 * from) / total}%`, width: `${(100 * toNumber(node.count)) / total}%`, "--part": partColour(node.part ?? "layer") }}
                title={`${placeOf(node)}: ${count(node.count)} (${share(toNumber(node.count), total)})`}
                aria-label={`${placeOf(node)}: ${count(node.count)} parameters, ${share(toNumber(node.count), total)}`}
                onClick={() => openDoor(placeOf(node))}
              >
                {toNumber(node.count) / total > 0.025 ? node.title : ""}
              </button>
            ))}
        </div>
      ))}
    </figure>
  );
}

/** The ledger's name of a part: of any layer, `layers.*.attention`. */
const placeOf = (node: Slice): string => node.name.replace(/^layers\./, "layers.*.");
