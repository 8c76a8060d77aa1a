import { expect, test } from "vitest";
import { parseMatrix } from "./Matrix";

test("a matrix is read however it is written", () => {
  const wanted = [["1", "0"], ["-1", "1/3"]];
  for (const text of ["1 0\n-1 1/3", "[[1, 0], \n [-1, 1/3]]", "1 & 0 \\\\ -1 & 1/3", "1\t0;-1\t1/3"]) expect(parseMatrix(text)).toEqual(wanted);
  expect(parseMatrix(" ")).toEqual([]);
});
