// A picture of a few pixels: a heat map without words, or an image, one dot of a canvas for each.
import { useEffect, useRef } from "preact/hooks";
import type { Rgb } from "./colours";

interface PixelsProps {
  width: number;
  height: number;
  colour: (place: number) => Rgb; // of each pixel, row after row
  drawn: unknown[]; // what it is drawn anew for
  class?: string;
  style?: Record<string, string>;
  label?: string; // none: it says nothing that is not said beside it
}

export function Pixels({ width, height, colour, drawn, label, ...look }: PixelsProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const pen = canvas.current?.getContext("2d");
    if (!pen || !width || !height) return;
    const image = pen.createImageData(width, height);
    for (let place = 0; place < width * height; place++) image.data.set([...colour(place), 255], 4 * place);
    pen.putImageData(image, 0, 0);
  }, [width, height, ...drawn]);
  return <canvas ref={canvas} width={width} height={height} {...look} {...(label ? { role: "img", "aria-label": label } : { "aria-hidden": true })} />;
}
