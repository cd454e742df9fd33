// How the page words things: shares, quotations, lists.

/** 0.873 -> "87 %"; no estimate is ever called certain. */
export function percent(share) {
  if (share > 0.99) return "over 99 %";
  return share < 0.01 ? "under 1 %" : `${Math.round(100 * share)} %`;
}

/** 0.0034 -> "0.3 %": of all orders even the best may have little. */
export function smallPercent(share) {
  if (share > 0.99) return "> 99 %";
  if (share >= 0.0995) return `${Math.round(100 * share)} %`;
  return share < 0.0005 ? "< 0.1 %" : `${(100 * share).toFixed(1)} %`;
}

const RIGHT_TO_LEFT = /^[^\p{L}]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;

/** Whether a sentence is written from right to left: as its first letter is. */
export const rightToLeft = (sentence) => RIGHT_TO_LEFT.test(sentence);

/** Words in quotation marks; those of another direction do not disturb the line around them. */
export const quoted = (words) => (rightToLeft(words) ? `“\u2067${words}\u2069”` : `“${words}”`);

/** The start of a sentence in quotation marks. */
export function quote(sentence, letters = 36) {
  if ([...sentence].length <= letters) return quoted(sentence);
  const start = [...sentence].slice(0, letters).join("");
  const whole = start.replace(/\s+\S*$/u, "");
  return quoted(`${(whole || start).replace(/[\s,;:]+$/u, "")}…`);
}

/** ["a", "b", "c"] -> "a, b and c" */
export function listed(words) {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

/** "reads well" -> "Reads well" */
export const sentenceCase = (words) => words.charAt(0).toUpperCase() + words.slice(1);

/** 1, "step" -> "1 step" */
export const count = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

/** How much likelier one of two log-probabilities is, in words. */
export function times(difference) {
  const ratio = Math.exp(Math.abs(difference));
  if (ratio < 1.5) return "about as likely as";
  const by = ratio < 3 ? "somewhat" : ratio < 10 ? "several times" : ratio < 100 ? "more than 10 times" : "more than 100 times";
  return difference > 0 ? `${by} likelier than` : `${by} less likely than`;
}
