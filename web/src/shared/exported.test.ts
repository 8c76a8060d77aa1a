import { expect, test } from "vitest";
import { hrefOf, pageAt, questionOf } from "./exported";

test("a page of an export is a folder, and its name in the lab comes back from its path", () => {
  for (const under of ["", "/course/lab"]) {
    for (const address of ["/", "/walk", "/bench"]) expect(pageAt(hrefOf(address, under, true), under, true)).toBe(address);
    expect(hrefOf("/bench?spec=bert-base", under, true)).toBe(`${under}/bench/?spec=bert-base`);
    expect(pageAt(`${under}/walk/index.html`, under, true)).toBe("/walk");
  }
  expect(hrefOf("/bench?x=1", "", false)).toBe("/bench?x=1");
});

test("a question has one name, whatever the order of its keys", () => {
  expect(questionOf("/api/a", { b: [{ d: 1, c: "é" }], a: null })).toBe('/api/a {"a":null,"b":[{"c":"é","d":1}]}');
  expect(questionOf("/api/a", undefined)).toBe("/api/a");
});
