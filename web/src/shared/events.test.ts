import { expect, test } from "vitest";
import { eventReader } from "./events";

test("events come out whole, however the text was cut", () => {
  const text = 'event: epoch\ndata: {"loss":1}\n\n: a comment\n\ndata: plain\n\nid: 7\nevent: end\ndata: {}\n\n';
  const expected = [
    { name: "epoch", data: '{"loss":1}' },
    { name: "message", data: "plain" },
    { name: "end", data: "{}", id: "7" },
  ];
  for (const size of [1, 2, 3, 7, 1000]) {
    const read = eventReader();
    const found = [];
    for (let at = 0; at < text.length; at += size) found.push(...read(text.slice(at, at + size)));
    expect(found).toEqual(expected);
  }
});
