// Clues that a reader can see: words that sentences share, words that point back, times, linking words.
import { element } from "./element.js";
import { listed, quoted } from "./words.js";

const WORD = /[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*/gu;
const DULL = new Set(("the and for are but not you all any can had her was one our out has him his how its may new now old see two way who did get let say she too use off own yet per via why far ago got put few nor "
  + "about above after again also although another because been before being below between both came come could does doing "
  + "down during each even ever every first from goes have having here into itself just last like made make many more most much must next only other "
  + "over said same shall should since some such than that their them then there these they this those through under until upon used using very want "
  + "well went were what when where which while will with within without would year years your yours whole quite still soon later").split(" "));
const PERSONAL = new Set("he she they him her them his their".split(" "));
const POINTING = new Set("it its this these those that such".split(" "));
const MOST_WORDS = 3;
const [PERSONAL_WITHIN, POINTING_WITHIN] = [5, 2]; // words; further on, a pronoun mostly means something in its own sentence
const OWN_TEXT = /^(?:paper|work|article|study|thesis)$/iu; // "this paper" does not point back
const LINKING = new RegExp(`^(?:${("however|therefore|thus|hence|finally|lastly|firstly|secondly|first|second|third|then|next|but|so|also|moreover|furthermore|instead|otherwise|"
  + "afterwards|meanwhile|nevertheless|still|yet|consequently|besides|in addition|in contrast|for example|for instance|as a result|after that|"
  + "until then|since then|by then|on the other hand|to begin with|in the end|at last|at first")})(?![\\p{L}])`, "iu");
const NUMBER = "(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|\\d+|a few|several|some)";
const UNIT = "(?:seconds?|minutes?|hours?|days?|nights?|weeks?|months?|years?|decades?|centur(?:y|ies))";
const TIME = new RegExp("(?<![\\p{L}\\p{N}])(?:" + [
  `${NUMBER} ${UNIT} (?:later|ago|earlier|before|after)`,
  "(?:the |that |this )?(?:next|following|same|previous|last) (?:day|morning|afternoon|evening|night|week|month|year|spring|summer|autumn|winter)",
  "(?:at|by|around|before|after|until|since) (?:noon|midday|midnight|dawn|dusk|sunrise|sunset|breakfast|lunch|dinner|supper|nine|ten|eleven|twelve|one|two|three|four|five|six|seven|eight)",
  "(?:on |by |until |since |last |next )?(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day(?: morning| afternoon| evening| night)?",
  "(?:\\d{1,2} )?(?:January|February|March|April|June|July|August|September|October|November|December)(?: \\d{1,2})?(?:,? \\d{4})?",
  "(?:in |by |since )?(?:1[5-9]|20)\\d\\d", "\\d{1,2}[:.]\\d\\d(?: ?[ap]\\.?m\\.?)?", "\\d{1,2} ?[ap]\\.?m\\.?",
  "yesterday", "today", "tonight", "tomorrow", "this morning", "this evening",
].join("|") + ")(?![\\p{L}\\p{N}])", "giu");

const stem = (word) => word.toLowerCase().replace(/['’]s$/u, "").replace(/(?<=\p{L}{3})(?:ies|es|s)$/u, "").replace(/y$/u, "");

/** For each sentence its clues { start, end, kind, key }, none overlapping. */
export function cuesOf(sentences, graph) {
  const named = new Set((graph?.entities ?? []).flatMap((entity) => entity.match(WORD) ?? []).map(stem));
  const words = sentences.map((sentence) => [...sentence.matchAll(WORD)].map((found) => ({
    start: found.index, end: found.index + found[0].length, word: found[0], key: stem(found[0]),
  })));
  const times = Object.create(null);
  for (const own of words) for (const key of new Set(own.map((word) => word.key))) times[key] = (times[key] ?? 0) + 1;
  const telling = ({ word, key }) => times[key] > 1 && (named.has(key) || ([...word].length > 2 && !DULL.has(word.toLowerCase())));
  return sentences.map((sentence, number) => {
    const cues = [...sentence.matchAll(TIME)].map((found) => cue(found.index, found[0], "time"));
    const linking = sentence.match(LINKING);
    if (linking) cues.push(cue(0, linking[0], "linking"));
    const back = words[number].slice(0, PERSONAL_WITHIN).find(({ word }, at, early) => pointsBack(word.toLowerCase(), at, early[at + 1]?.word));
    if (back) cues.push(cue(back.start, back.word, "back"));
    for (const word of words[number]) if (telling(word)) cues.push({ ...word, kind: "shared" });
    return apart(cues);
  });
}

const pointsBack = (word, at, next = "") =>
  PERSONAL.has(word) || (at < POINTING_WITHIN && POINTING.has(word) && !OWN_TEXT.test(next));

const cue = (start, word, kind) => ({ start, end: start + word.length, kind, word, key: word.toLowerCase() });

/** Sorted by position; where two overlap, the one found first stays. */
function apart(cues) {
  const kept = [];
  for (const one of cues) if (kept.every((other) => one.end <= other.start || other.end <= one.start)) kept.push(one);
  return kept.sort((one, other) => one.start - other.start);
}

/** Words for what ties a sentence to those before it; `earlier`: { label, cues }, the nearest first. */
export function tie(own, earlier) {
  const first = (kind, words) => own.filter((one) => one.kind === kind).slice(0, 1).map((one) => `${quoted(one.word)} ${words}`);
  return [
    ...sharedWith(own, earlier),
    ...first("back", "points back"), ...first("linking", "links to what came before"), ...first("time", "tells when"),
  ].join("; ");
}

function sharedWith(own, earlier) {
  for (const [distance, { label, cues }] of earlier.entries()) {
    const there = new Set(cues.filter((one) => one.kind === "shared").map((one) => one.key));
    const words = new Map(own.filter((one) => one.kind === "shared" && there.has(one.key)).map((one) => [one.key, quoted(one.word)]));
    const shared = listed([...words.values()].slice(0, MOST_WORDS));
    if (shared) return [distance ? `takes up ${shared} from sentence ${label}` : `both mention ${shared}`];
  }
  return [];
}

/** A sentence as nodes, its clues marked. */
export function marked(sentence, cues) {
  const nodes = [];
  let at = 0;
  for (const { start, end, kind } of cues) {
    nodes.push(sentence.slice(at, start), element("mark", { class: kind }, sentence.slice(start, end)));
    at = end;
  }
  return [...nodes, sentence.slice(at)];
}
