// One honest line about an order: how sure the model is, and which steps to check.
import { count, listed } from "./words.js";

export const DOUBT = 0.75; // below this chance a step is worth checking
const MANY = 3;

/** The steps (from 1: between place 1 and 2) that the model has doubts about. */
export function doubtfulSteps(order, chance) {
  return order.slice(1).flatMap((second, at) => (chance(order[at], second) < DOUBT ? [at + 1] : []));
}

/** { level, line, detail } for the model's own order. */
export function headline({ order, confidence, kept }, chance) {
  const steps = order.length - 1;
  if (!steps) return { level: "unsure", line: "There is only one sentence here", detail: "Is the text split as you meant it?" };
  const doubts = doubtfulSteps(order, chance);
  const detail = inTen(confidence);
  if (kept) return { level: "unsure", line: "Too unsure: the sentences were left as they were", detail };
  const check = toCheck(doubts, steps);
  if (confidence < 0.7) return { level: "unsure", line: "Little better than a guess: check every step", detail };
  if (confidence < 0.85) return { level: "unsure", line: check ? `Fairly unsure: ${check}` : "Fairly unsure, though no single step stands out", detail };
  if (check) return { level: "fair", line: `Fairly sure, but ${check}`, detail };
  return confidence < 0.95
    ? { level: "fair", line: "Fairly sure of every step", detail }
    : { level: "sure", line: "Sure of every step", detail };
}

function toCheck(doubts, steps) {
  if (!doubts.length) return "";
  if (doubts.length === steps) return steps === 1 ? "check the step" : "check every step";
  if (doubts.length > MANY) return doubts.length > steps / 2 ? "check most steps" : `check ${count(doubts.length, "step")}`;
  return `check ${doubts.length === 1 ? "step" : "steps"} ${listed(doubts.map(String))}`;
}

const NUMBERS = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];

/** A confidence as a frequency that one can picture. */
function inTen(confidence) {
  if (confidence > 0.95) return "By its own estimate, nearly every pair of sentences stands the right way round.";
  return `By its own estimate, about ${NUMBERS[Math.min(9, Math.round(10 * confidence))]} in ten pairs of sentences stand the right way round.`;
}
