// Reads a score as advice to a writer.
import { count, quote } from "./words.js";

const CLEARLY = Math.log(10);
const SLIGHTLY = Math.log(2);

/** A map from a sentence's place to { words, to }: `to` is missing where no single move helps. */
export function adviceOn({ transitions, moves }, sentences) {
  const advice = new Map();
  const offered = moves.filter(({ gain }) => gain > SLIGHTLY);
  const cure = offered.length ? "The move offered elsewhere may mend it." : "No single move mends it; perhaps a linking word is missing.";
  for (const { second, score } of transitions) {
    const left = sentences.length - second; // the sentences that could have come here
    if (score < Math.min(0.5, 1 / left)) advice.set(second, { words: `${weak(sentences, second)} ${cure}` });
  }
  for (const { sentence, to, gain } of offered) {
    if (advice.get(sentence)?.to !== undefined) continue;
    advice.set(sentence, { words: `It would read ${gain > CLEARLY ? "clearly" : "slightly"} better ${where(sentences, sentence, to)}.`, to });
  }
  return advice;
}

const weak = (sentences, place) =>
  `A weak step: after ${quote(sentences[place - 1])} the model expects something else.`;

function where(sentences, from, to) {
  const others = sentences.filter((_, place) => place !== from);
  return to ? `after ${quote(others[to - 1])}` : "at the very beginning";
}

/** One line about the whole draft. */
export function verdict(advice, size) {
  if (size < 2) return "There is only one sentence here";
  if (!advice.size) return "No weak step found";
  const moves = [...advice.values()].filter((one) => one.to !== undefined).length;
  if (moves === advice.size) return `${count(moves, "sentence")} would read better elsewhere`;
  const found = `${count(advice.size, "sentence")} to look at`;
  return moves ? `${found}; ${moves} would read better elsewhere` : found;
}
