import { expect, test } from "vitest";
import { key, keyIn, takeKey } from "./key";

test("a key is read from the fragment alone, and from nothing else there", () => {
  expect(keyIn("#key=aB3_-x")).toBe("aB3_-x");
  for (const hash of ["", "#main", "#key=", "#key=a&b", "#key=<b>", "?key=a"]) expect(keyIn(hash)).toBeNull();
});

test("it is taken out of the address, and kept", () => {
  location.hash = "#key=secret";
  expect(takeKey()).toBe(true);
  expect([location.hash, key(), localStorage.getItem("glassformer-key")]).toEqual(["", "secret", "secret"]);
  expect(takeKey()).toBe(false);
  expect(key()).toBe("secret");
});
