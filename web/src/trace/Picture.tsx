// An image in its patches, and where a query looks: the weight of each patch laid over the picture.
import type { Rgb } from "../shared/colours";
import { Door } from "../shared/Door";
import { digits as said } from "../shared/format";
import { inCell } from "../shared/Grid";
import { Pixels } from "../shared/Pixels";
import { change } from "../shared/place";
import type { FloatArray } from "../shared/wire";
import { cellId } from "./cells";
import type { Opened } from "./types";

/** Grey pixels from -1 (paper) to 1 (ink), drawn as they are. */
export function Grey({ pixels, side }: { pixels: FloatArray; side: number }) {
  const [height = 1, width = 1] = pixels.shape;
  const colour = (place: number): Rgb => {
    const grey = Math.round(255 * (1 - Math.min(1, Math.max(0, (pixels.data[place]! + 1) / 2))));
    return [grey, grey, grey];
  };
  return <Pixels width={width} height={height} colour={colour} drawn={[pixels]} class="pixels" style={{ width: `${side}px`, height: `${(side * height) / width}px` }} />;
}

/** One of the built-in digits. */
export function digitOf(digits: FloatArray, place: number): FloatArray {
  const [, height = 8, width = 8] = digits.shape;
  return { shape: [height, width], data: digits.data.subarray(place * height * width, (place + 1) * height * width) };
}

interface LooksProps {
  opened: Opened;
  pixels: FloatArray;
  layer: number;
  head: number;
  query: number;
  weights: ArrayLike<number>; // of the query, one for each token
}

const SIDE = 256;

export function Looks({ opened, pixels, layer, head, query, weights }: LooksProps) {
  const { grid, before } = opened.image!;
  const patches = Array.from({ length: grid[0] * grid[1] }, (_, place) => place);
  let most = 0;
  for (let i = 0; i < weights.length; i++) most = Math.max(most, weights[i]!);
  const name = `layers.${layer}.attention.weights`;
  const lattice = { gridTemplateColumns: `repeat(${grid[1]}, 1fr)`, gridTemplateRows: `repeat(${grid[0]}, 1fr)`, width: `${SIDE}px`, height: `${(SIDE * grid[0]) / grid[1]}px` };
  return (
    <div class="looks">
      <figure>
        <figcaption>image: choose the query patch</figcaption>
        <div class="patches" style={lattice}>
          <Grey pixels={pixels} side={SIDE} />
          {patches.map((patch) => (
            <button type="button" class="patch" aria-pressed={patch + before === query} aria-label={`patch ${opened.tokens[patch + before]}`} onClick={() => change({ q: String(patch + before) })} />
          ))}
        </div>
        <p>
          {opened.tokens.slice(0, before).map((word, place) => (
            <button type="button" class="quiet" aria-pressed={place === query} onClick={() => change({ q: String(place) })}>
              {word} token
            </button>
          ))}
        </p>
      </figure>
      <figure>
        <figcaption>
          attention of {query < before ? `the ${opened.tokens[query]} token` : `patch ${opened.tokens[query]}`}
        </figcaption>
        <div class="patches over" style={lattice}>
          <Grey pixels={pixels} side={SIDE} />
          {patches.map((patch) => {
            const weight = weights[patch + before] ?? NaN;
            return (
              <span class="patch-weight" key={patch}>
                <span class="veil" style={{ opacity: String((0.85 * (weight || 0)) / (most || 1)) }} />
                <Door id={cellId(name, { head, t: query, s: patch + before })} value={weight} label={`${grid[1] <= 8 ? inCell(weight) : "·"}: weight on patch ${opened.tokens[patch + before]}`}>
                  {grid[1] <= 8 ? inCell(weight) : "·"}
                </Door>
              </span>
            );
          })}
        </div>
        <p class="note">
          largest weight: {said(most)}
          {before > 0 && "; "}
          {opened.tokens.slice(0, before).map((word, place) => (
            <>
              weight on the {word} token: <Door id={cellId(name, { head, t: query, s: place })} value={weights[place] ?? NaN} />{" "}
            </>
          ))}
        </p>
      </figure>
    </div>
  );
}
