// What a page holds: packed into its address, so that a link or a reload has all of it.
"use strict";

const BITS = { deflate: "z", plain: "p" };
export const LONGEST_LINK = 60000;

const bytes = async (stream) => new Uint8Array(await new Response(stream).arrayBuffer());

const through = (data, filter) => bytes(new Blob([data]).stream().pipeThrough(filter));

const spelled = (data) => {
  let text = "";
  for (const byte of data) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
};

const read = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));

export async function pack(state) {
  const data = new TextEncoder().encode(JSON.stringify(state));
  if (!("CompressionStream" in window)) return BITS.plain + spelled(data);
  return BITS.deflate + spelled(await through(data, new CompressionStream("deflate-raw")));
}

export async function unpack(text) {
  try {
    let data = read(text.slice(1));
    if (text[0] === BITS.deflate) data = await through(data, new DecompressionStream("deflate-raw"));
    return JSON.parse(new TextDecoder().decode(data));
  } catch {
    return null;
  }
}

// Ends the search of a question; a server that has gone has no search to end.
export async function halt(id, token) {
  const headers = { "x-blowproof-token": token };
  await fetch(`stop?id=${id}`, { method: "POST", headers }).catch(() => {});
}

// The events of an answer, as they come: one JSON document for each line.
export async function* events(question, token, signal) {
  const headers = { "x-blowproof-token": token, "content-type": "application/json" };
  const body = JSON.stringify(question);
  const answer = await fetch("ask", { method: "POST", headers, body, signal });
  if (!answer.ok) throw new Error(await answer.text());
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line) yield JSON.parse(line);
  }
}
