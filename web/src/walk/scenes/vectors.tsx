// Scene 3: a piece becomes a list of numbers, and its place is added.
import { Laid, NowYou, Sentence, short, Strip, Strips, useOpened } from "../parts";
import { row, shown, type Told } from "../told";
import { Words } from "../Words";

const SHOWN = 8; // numbers of a vector that are written out

export function Vectors(told: Told) {
  const [opened, open] = useOpened();
  const width = told.model.header.d_model;
  const [token, place, sum] = ["embeddings.token", "embeddings.position", "x"].map((name) => row(told.values[name]!, told.asks, width)) as [Float32Array, Float32Array, Float32Array];
  const add = (i: number) => open(<>{`number ${i}: ${short(token[i]!)} (the piece) + ${short(place[i]!)} (place ${told.asks}) = ${short(sum[i]!)}`}</>);
  return (
    <Laid opened={opened} ask={<AskVectors {...told} />}>
      <Words told={told} />
      <Strips label="vectors">
        <Strip name={`“${shown(told.pieces[told.asks]!)}”`} values={token.slice(0, SHOWN)} open={add} />
        <Strip name={`+ place ${told.asks}`} values={place.slice(0, SHOWN)} open={add} />
        <Strip name="= its vector (x)" values={sum.slice(0, SHOWN)} open={add} sum />
      </Strips>
      <p class="note">
        The first {SHOWN} of {width} numbers; places are counted from 0. Below: the vectors of all pieces, {width} numbers each.
      </p>
      <Sentence names={told.pieces.map(shown)} values={told.values.x!} width={width} asks={told.asks} label="the vectors of all pieces" />
    </Laid>
  );
}

function AskVectors(told: Told) {
  const twice = told.pieces.findIndex((one, t) => told.pieces.findIndex(({ id }) => id === one.id) < t);
  const word = twice < 0 ? "two equal words" : `the two “${shown(told.pieces[twice]!)}”`;
  return (
    <NowYou question={`without places, would ${word} have the same vector?`} options={["the same", "different ones"]} right={0}>
      <p>The list of numbers depends on the piece alone. The place makes the two different.</p>
    </NowYou>
  );
}
