// A draft as paragraphs of sentences.

/** Which sentences belong to which paragraph: a new one begins after a blank line. */
export function paragraphsOf(text, sentences) {
  const paragraphs = [];
  let at = 0;
  for (const sentence of sentences) {
    const start = find(text, sentence, at);
    if (!paragraphs.length || /\n\s*\n/u.test(text.slice(at, start))) paragraphs.push([]);
    paragraphs.at(-1).push(sentence);
    at = start + sentence.length;
  }
  return paragraphs;
}

/** Where a sentence begins; the service may have closed up its spaces. */
function find(text, sentence, at) {
  const whole = text.indexOf(sentence, at);
  if (whole >= 0) return whole;
  const start = text.indexOf(sentence.split(/\s/u, 1)[0], at);
  return start >= 0 ? start : at;
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
