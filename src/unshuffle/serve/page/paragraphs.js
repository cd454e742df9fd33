// A draft as paragraphs of sentences.

/** Which sentences belong to which paragraph: a new one begins after a blank line. */
export function paragraphsOf(text, sentences) {
  const paragraphs = [];
  let at = 0;
  for (const sentence of sentences) {
    const { start, end } = find(text, sentence, at);
    if (!paragraphs.length || /\n\s*\n/u.test(text.slice(at, start))) paragraphs.push([]);
    paragraphs.at(-1).push(sentence);
    at = end;
  }
  return paragraphs;
}

/** Where a sentence first stands from a place on; the service has closed up its blanks and line ends. */
function find(text, sentence, at) {
  const words = sentence.trim().split(/\s+/u).map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/gu, "\\$&"));
  const pattern = new RegExp(words.join("[\\s\\x1c-\\x1f\\x85]+"), "gu");
  pattern.lastIndex = at;
  const match = pattern.exec(text);
  return match ? { start: match.index, end: pattern.lastIndex } : { start: at, end: at };
}

/** The paragraphs with one sentence moved; it joins the paragraph of the sentence that it then follows. */
export function move(paragraphs, from, to) {
  const placed = paragraphs.flatMap((paragraph, number) => paragraph.map((sentence) => ({ sentence, number })));
  const [taken] = placed.splice(from, 1);
  placed.splice(to, 0, { ...taken, number: placed[to - 1]?.number ?? 0 });
  return paragraphs
    .map((_, number) => placed.filter((one) => one.number === number).map((one) => one.sentence))
    .filter((paragraph) => paragraph.length);
}

/** The draft as text. */
export const textOf = (paragraphs) => paragraphs.map((paragraph) => paragraph.join(" ")).join("\n\n");
