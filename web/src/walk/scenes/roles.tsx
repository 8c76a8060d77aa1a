// Scene 4: query, key and value of one word, from its vector.
import { Laid, NowYou, short, Small, Strip, Strips, useOpened } from "../parts";
import { LAYER, row, shown, type Told } from "../told";
import { Words } from "../Words";

const ROLES: [string, string][] = [["q", "what I ask (query, q)"], ["k", "what I offer (key, k)"], ["v", "what I say (value, v)"]];

export function Roles(told: Told) {
  const [opened, open] = useOpened();
  const { d_model: width, heads } = told.model.header;
  const size = width / heads;
  const x = row(told.values[`layers.${LAYER - 1}.out`]!, told.asks, width);
  const learned = (name: string, role: string) => told.model.arrays[`layers.${LAYER}.attention.${name}_${role.toUpperCase()}`]!.data;
  const explain = (role: string, i: number) => {
    const [weight, bias] = [learned("W", role), learned("b", role)[i]!];
    const terms = Array.from(x, (one, d) => ({ one, by: weight[d * width + i]! })).sort((a, b) => Math.abs(b.one * b.by) - Math.abs(a.one * a.by));
    const value = terms.reduce((sum, { one, by }) => sum + one * by, bias);
    open(<>{`${role}[${i}] = ${terms.slice(0, 3).map(({ one, by }) => `${short(one)}·${short(by)}`).join(" + ")} + … ${width - 3} more products + ${short(bias)} = ${short(value)}`}</>);
  };
  const matrix = (role: string) => Float32Array.from({ length: width * size }, (_, i) => learned("W", role)[Math.floor(i / size) * width + (i % size)]!);
  return (
    <Laid opened={opened} ask={<AskRoles {...told} />}>
      <Words told={told} />
      <div class="walk-x">
        <span>x, the vector of “{shown(told.pieces[told.asks]!)}” so far</span>
        <Small values={x} columns={width} signed label={`the ${width} numbers of x`} />
      </div>
      <Strips label="query, key and value">
        {ROLES.map(([role, words]) => (
          <Strip
            name={
              <span class="walk-role">
                {words}
                <span class="walk-times">
                  = x · <Small values={matrix(role)} columns={size} signed label={`the matrix W_${role.toUpperCase()}, ${width} × ${size}`} /> =
                </span>
              </span>
            }
            values={row(told.values[`layers.${LAYER}.attention.${role}`]!, told.asks, width).slice(0, size)}
            open={(i) => explain(role, i)}
          />
        ))}
      </Strips>
      <p class="note">
        Layer {LAYER}, head 0. x has {width} numbers; each role has a learned matrix of {width} × {size}, and a bias is added. The other {heads - 1} heads have matrices of their own.
      </p>
    </Laid>
  );
}

function AskRoles({ pieces, model: { header } }: Told) {
  const size = header.d_model / header.heads;
  const shape = (rows: number, columns: number) => `${rows} × ${columns}`;
  return (
    <NowYou question="what is the shape of k for the whole sentence, in one head?" options={[shape(header.d_model, size), shape(pieces.length, size), shape(pieces.length, header.d_model)]} right={1}>
      <p>
        One row for each of the {pieces.length} pieces, {size} numbers in each.
      </p>
    </NowYou>
  );
}
