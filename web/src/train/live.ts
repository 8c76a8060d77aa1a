// The runs as they are: one stream for the table and for the curves that are looked at; a connection that is lost comes back by itself.
import { useEffect, useState } from "preact/hooks";
import { listen } from "../shared/api";
import { grown, NOTHING, type Curve } from "./curve";
import type { Point, Row, Verdict } from "./types";

export interface Live {
  rows: Row[] | undefined;
  curves: Map<string, Curve>;
  lost: boolean;
}

interface Points {
  run: string;
  void: boolean;
  points: Point[];
  verdict: Verdict | null;
}

/** Rows that changed take the place of those before. */
export function merged(before: Row[] | undefined, changed: Row[]): Row[] {
  const by = new Map(changed.map((row) => [row.name, row]));
  return (before ?? []).map((row) => by.get(row.name) ?? row);
}

export function useLive(names: string[]): [Live, (rows: Row[]) => void] {
  const [live, setLive] = useState<Live>({ rows: undefined, curves: new Map(), lost: false });
  const key = names.map((name) => `run=${encodeURIComponent(name)}`).join("&");
  useEffect(() => {
    const seen = new Set<string>();
    const points = (said: unknown) => {
      const { run, void: isVoid, points, verdict } = said as Points;
      setLive((before) => {
        const old = isVoid || !seen.has(run) ? NOTHING : (before.curves.get(run) ?? NOTHING);
        seen.add(run);
        return { ...before, lost: false, curves: new Map(before.curves).set(run, grown(old, points, verdict)) };
      });
    };
    const rows = (read: (before: Row[] | undefined, rows: Row[]) => Row[]) => (said: unknown) =>
      setLive((before) => ({ ...before, lost: false, rows: read(before.rows, (said as { rows: Row[] }).rows) }));
    const stop = listen(
      `/api/train/stream?${key}`,
      { table: rows((_, now) => now), rows: rows(merged), points, alive: () => setLive((before) => ({ ...before, lost: false })) },
      () => setLive((before) => ({ ...before, lost: true })),
    );
    return stop;
  }, [key]);
  return [live, (rows) => setLive((before) => ({ ...before, rows }))];
}
