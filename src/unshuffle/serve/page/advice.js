// Reads a score as advice to a writer.
import { count, quote } from "./words.js";

/** A map from a sentence's place to { words, to }: `to` is missing where no single move helps. */
export function adviceOn({ transitions, moves }, sentences) {
  const advice = new Map();
  const cure = moves.length ? "The move offered elsewhere may mend it." : "No single move mends it; perhaps a linking word is missing.";
  for (const { second, weak } of transitions) {
    if (weak) advice.set(second, { words: `${weakStep(sentences, second)} ${cure}` });
  }
  for (const { sentence, to, words } of moves) {
    if (advice.get(sentence)?.to !== undefined) continue;
    advice.set(sentence, { words: `It would read ${words} ${where(sentences, sentence, to)}.`, to });
  }
  return advice;
}

const weakStep = (sentences, place) =>
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
