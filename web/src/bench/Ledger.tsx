// The ledger: every tensor with its formula and its count, as a table and as an icicle.
import { partColour } from "../shared/colours";
import { Door } from "../shared/Door";
import { count, share } from "../shared/format";
import { toNumber, type WireNumber } from "../shared/wire";
import { openDoor } from "../shared/Door";
import type { Derived, LedgerLine } from "./types";

/** `brief`: in the panel, where the names' beginnings are known and room is short. */
export function LedgerTable({ lines, total, brief = false }: { lines: LedgerLine[]; total?: WireNumber; brief?: boolean }) {
  const whole = total ?? lines.reduce((sum, line) => sum + toNumber(line.count), 0);
  return (
    <div class="wide">
      <table class="rows">
        <thead>
          <tr>
            <th scope="col">tensor</th>
            <th scope="col" class="number">
              count
            </th>
            {brief && <th scope="col">sizes</th>}
            {!brief && (
              <>
                <th scope="col" class="number">
                  share
                </th>
                <th scope="col">sizes</th>
                <th scope="col">formula</th>
              </>
            )}
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <tr key={line.name}>
              <td>
                <span class="dot" style={{ background: partColour(line.part) }} />
                <span class="mono" title={line.name}>
                  {brief ? line.name.split(".").slice(-1) : line.name}
                </span>
                {line.also.length > 0 && <span class="soft" title={line.also.join(", ")}> (also {line.also[0]}{line.also.length > 1 && ", …"})</span>}
                {line.frozen && <span class="soft"> (not trained)</span>}
              </td>
              <td class="number">
                <Door id={line.name} label={`${line.name}: ${count(line.count)}`}>
                  {count(line.count)}
                </Door>
              </td>
              {brief && <td title={line.formula}>{line.numbers}</td>}
              {!brief && (
                <>
                  <td class="number">{share(line.count, whole)}</td>
                  <td>{line.numbers}</td>
                  <td>{line.formula}</td>
                </>
              )}
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
              <td colSpan={3} />
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}

export interface Node {
  name: string;
  title: string;
  part: string;
  value: number;
  children: Node[];
}

/** The ledger as a tree by the words of its names; a word that stands alone joins its child. */
export function treeOf(lines: LedgerLine[]): Node[] {
  const roots: Node[] = [];
  for (const line of lines) {
    let level = roots;
    let name = "";
    for (const word of line.name.replace(/^layers\.\*\./, "layers.").split(".")) {
      name = name ? `${name}.${word}` : word;
      let node = level.find((item) => item.title === word);
      if (!node) level.push((node = { name: name.replace(/^layers\./, "layers.*."), title: word, part: line.part, value: 0, children: [] }));
      if (node.part !== line.part) node.part = { embeddings: "embedding", head: "head", pooler: "head", ffn: "feed-forward", attention: "attention" }[node.title] ?? "layer";
      node.value += toNumber(line.count);
      level = node.children;
    }
  }
  return roots;
}

export function Icicle({ derived }: { derived: Derived }) {
  const levels: { node: Node; from: number }[][] = [];
  const walk = (nodes: Node[], depth: number, from: number) => {
    for (const node of nodes) {
      (levels[depth] ??= []).push({ node, from });
      walk(node.children, depth + 1, from);
      from += node.value;
    }
  };
  walk(treeOf(derived.lines), 0, 0);
  const total = toNumber(derived.total) || 1;
  return (
    <figure class="icicle" aria-label={`where the ${count(derived.total)} parameters are`}>
      {levels.map((level) => (
        <div class="icicle-level">
          {level
            .filter(({ node }) => node.value / total > 0.002)
            .map(({ node, from }) => (
              <button
                type="button"
                class="icicle-cell"
                key={node.name}
                style={{ left: `${(100 * from) / total}%`, width: `${(100 * node.value) / total}%`, "--part": partColour(node.part) }}
                title={`${node.name}: ${count(node.value)} (${share(node.value, total)})`}
                aria-label={`${node.name}: ${count(node.value)} parameters, ${share(node.value, total)}`}
                onClick={() => openDoor(node.name)}
              >
                {node.value / total > 0.025 ? node.title : ""}
              </button>
            ))}
        </div>
      ))}
    </figure>
  );
}
