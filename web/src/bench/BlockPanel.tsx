// What the panel shows on the bench: a block or a tensor, its parameters, its equations and its shapes.
import { Door } from "../shared/Door";
import { count } from "../shared/format";
import { Math } from "../shared/Math";
import { Empty } from "../shared/States";
import { toNumber } from "../shared/wire";
import { CostPanel, MemoryPanel, ParametersPanel, partOf, StepLine } from "./CostPanel";
import { LedgerTable } from "./Ledger";
import type { Block as BlockOf, Derived } from "./types";
import { folded } from "./words";

/** Every block and step of the diagram, inner ones included. */
export function everyBlock(blocks: BlockOf[]): BlockOf[] {
  return blocks.flatMap((block) => [block, ...everyBlock(block.blocks)]);
}

export function findBlock(derived: Derived, id: string): BlockOf | undefined {
  const all = everyBlock(derived.blocks);
  return all.find((block) => block.name === id) ?? all.find((block) => folded(block.name) === id);
}

const steps = (block: BlockOf): BlockOf[] => (block.blocks.length ? block.blocks.flatMap(steps) : [block]);

export function BlockPanel({ id, derived }: { id: string; derived: Derived }) {
  const part = partOf(id);
  if (part !== null) return <CostPanel part={part} derived={derived} />;
  if (id === "parameters") return <ParametersPanel derived={derived} />;
  if (id === "memory") return <MemoryPanel derived={derived} />;
  return <Block id={id} derived={derived} />;
}

function Block({ id, derived }: { id: string; derived: Derived }) {
  const block = findBlock(derived, id);
  const place = folded(block?.name ?? id);
  const own = (name: string) => name === place || name.startsWith(`${place}.`) || (place === "layers.*" && name.startsWith("layers."));
  const lines = derived.lines.filter((line) => own(line.name) || block?.reads.includes(line.name));
  if (!block && lines.length === 0) return <Empty>{`This encoder has no ${id}.`}</Empty>;
  const times = lines[0]?.times ?? 1;
  const total = lines.reduce((sum, line) => sum + toNumber(line.count), 0);
  return (
    <>
      {block && (
        <p>
          output shape: {block.shape}
          {block.about && <span class="note"> · {block.about}</span>}
        </p>
      )}
      {lines.length > 0 && (
        <p class="big-number">
          {count(total)} <span class="soft">parameters{times > 1 && `, ${count(total / times)} in each of ${times} layers`}</span>
        </p>
      )}
      {block &&
        steps(block)
          .filter((step) => step.left)
          .map((step) => (
            <div class="panel-equation" key={step.name}>
              <div class="wide">
                <Math latex={`${step.left} = ${step.right}`} />
              </div>
              <span class="note">
                {block === step ? step.name : <Door id={step.name}>{step.name}</Door>} · {step.shape}
              </span>
            </div>
          ))}
      {block && block.blocks.length === 0 && derived.costs.steps.filter((step) => step.name === block.name).map((step) => <StepLine step={step} />)}
      {lines.length > 0 && <LedgerTable lines={lines} brief />}
    </>
  );
}
