// Reads a score as advice to a writer.
import { quote } from "./words.js";

/** A map from a sentence's position to { words, to }: `to` is missing where no single move helps. */
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

const weakStep = (sentences, position) =>
  `A weak step: after ${quote(sentences[position - 1])} the model expects something else.`;

function where(sentences, from, to) {
  const others = sentences.filter((_, position) => position !== from);
  return to ? `after ${quote(others[to - 1])}` : "at the very beginning";
}
