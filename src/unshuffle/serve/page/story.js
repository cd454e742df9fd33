// Turns an answer into steps to be shown, each with its words: the rounds of refinement, then the order being read off.
import { chances } from "./pairs.js";
import { count, percent, quote } from "./words.js";

const REACH = 3; // without a graph, pairs at most this far from each other are drawn

/** The pairs to draw: the graph's links or those that were refined; for a model without, near pairs of its order. */
export function drawnPairs({ order, rounds }, graph) {
  if (graph.links.length) return graph.links;
  if (rounds.length) return rounds[0].weights.map(([first, second]) => [first, second]);
  return order.flatMap((first, at) => order.slice(at + 1, at + 1 + REACH).map((second) => [Math.min(first, second), Math.max(first, second)]));
}

/** Steps { caption, links, read, now, rival }: the rounds, the reading, and the whole. */
export function storyOf(ordering, pairs) {
  const rounds = roundSteps(ordering, pairs.length);
  const links = Object.fromEntries(ordering.pairs.map(([first, second, weight]) => [key(first, second), { weight, open: false }]));
  const whole = {
    links, read: ordering.order,
    caption: `The whole order${pairs.length ? ", with what the model makes of each pair in the end" : ""}. Press play to see how it comes about.`,
  };
  return [...rounds, ...readingSteps(ordering, links), whole];
}

function roundSteps(ordering, total) {
  if (!ordering.rounds.length || !total) return [];
  const start = `${count(total, "pair")} of sentences ${total === 1 ? "is" : "are"} linked. None is decided yet.`;
  const steps = [{ links: {}, caption: start }];
  let before = total;
  ordering.rounds.forEach((round, number) => {
    const open = new Set(round.undecided.map(([first, second]) => key(first, second)));
    const links = Object.fromEntries(
      round.weights.map(([first, second, weight]) => [key(first, second), { weight, open: open.has(key(first, second)) }]),
    );
    const caption = roundCaption(number, before - open.size, open.size, number === ordering.rounds.length - 1);
    before = open.size;
    steps.push({ links, caption });
  });
  return steps;
}

const key = (first, second) => (first < second ? `${first},${second}` : `${second},${first}`);

function roundCaption(number, settled, open, last) {
  if (!number && !open) return `At first sight the model decides ${settled === 1 ? "the pair" : `all ${settled} pairs`}: nothing is left for later rounds.`;
  const who = number ? `Round ${number}. With the decided pairs as help,` : "At first sight";
  const more = number ? " more" : "";
  const what = settled ? `${settled}${more} ${settled === 1 ? "pair is" : "pairs are"} decided` : `no${more} pair is decided`;
  const rest = open ? `${open} ${open === 1 ? "stays" : "stay"} open${last ? " for good" : ""}` : "none is left open";
  return `${who} ${what}, ${rest}.`;
}

/** One step for each sentence that is chosen, with its nearest rival by the pair probabilities. */
function readingSteps({ order, pairs, input: sentences }, links) {
  const chance = chances(pairs);
  return order.map((now, at) => {
    const left = order.slice(at);
    const lead = (one) => left.reduce((sum, other) => sum + (other === one ? 0 : chance(one, other)), 0) / (left.length - 1);
    const rival = left.slice(1).reduce((best, one) => (best === undefined || lead(one) > lead(best) ? one : best), undefined);
    return { links, read: order.slice(0, at), now, rival, caption: readingCaption(at, order.length, sentences, now, rival, lead) };
  });
}

function readingCaption(at, size, sentences, now, rival, lead) {
  const start = `Reading off, ${at + 1} of ${size}. ${quote(sentences[now])}`;
  if (rival === undefined) return size === 1 ? `${start} is the only sentence.` : `${start} is the only one left.`;
  const verb = at ? "comes next" : "opens the text";
  const other = quote(sentences[rival]);
  if (at === size - 2) return `${start} ${verb}: the chance that it comes before ${other} is ${percent(lead(now))}.`;
  const own = `${start} ${verb}. On average it comes before ${at ? "what is left" : "the others"} with ${percent(lead(now))}`;
  return lead(rival) > lead(now)
    ? `${own}. ${other} would have ${percent(lead(rival))}, but the model weighs the text as a whole.`
    : `${own}; the nearest rival, ${other}, with ${percent(lead(rival))}.`;
}
