// Links from the word that asks to those it looks at, over the words themselves.
import { useLayoutEffect, useRef, useState } from "preact/hooks";

const LEAST = 0.02; // the smallest share that is drawn

export function Arcs({ shares, asks }: { shares: Float32Array; asks: number }) {
  const own = useRef<SVGSVGElement>(null);
  const [paths, setPaths] = useState<{ d: string; share: number }[]>([]);
  const [height, setHeight] = useState(0);
  useLayoutEffect(() => {
    const measure = () => {
      const box = own.current!.getBoundingClientRect();
      const chips = [...own.current!.parentElement!.querySelectorAll(".walk-piece")].map((chip) => chip.getBoundingClientRect());
      const at = (one: DOMRect): [number, number] => [one.left + one.width / 2 - box.left, one.top - box.top];
      const [x, y] = at(chips[asks]!);
      setHeight(own.current!.parentElement!.clientHeight);
      setPaths(
        chips.flatMap((chip, s) => {
          const [left, top] = at(chip);
          const lift = Math.min(y, top) - Math.min(76, 22 + Math.abs(left - x) / 5);
          return s === asks || shares[s]! < LEAST ? [] : [{ d: `M${x},${y} C${x},${lift} ${left},${lift} ${left},${top}`, share: shares[s]! }];
        }),
      );
    };
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(own.current!.parentElement!);
    return () => watch.disconnect();
  }, [shares, asks]);
  return (
    <svg class="walk-links" ref={own} height={height} aria-hidden="true">
      {paths.map(({ d, share }) => (
        <path key={`${asks} ${d}`} d={d} pathLength={1} stroke-width={1 + 9 * share} stroke-opacity={0.25 + 0.75 * share} />
      ))}
    </svg>
  );
}
