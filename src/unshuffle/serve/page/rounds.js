// Turns the rounds of an answer into steps to be shown, each with its words.

/** Steps { links, caption }: first the graph as built, then one for each round. */
export function stepsOf(ordering, graph) {
  const total = graph.links.length;
  if (!ordering.rounds.length) {
    const links = Object.fromEntries(ordering.pairs.map(([first, second, weight]) => [key(first, second), { weight, open: false }]));
    return [{ links, caption: "This model does not refine its graph; the arrows show its final pair probabilities." }];
  }
  const steps = [{ links: {}, caption: `Start. ${count(total, "link")}, none decided: each weighs one half.` }];
  let before = total;
  ordering.rounds.forEach((round, number) => {
    const open = new Set(round.undecided.map(([first, second]) => key(first, second)));
    const links = Object.fromEntries(
      round.weights.map(([first, second, weight]) => [key(first, second), { weight, open: open.has(key(first, second)) }]),
    );
    const settled = before - open.size;
    before = open.size;
    steps.push({ links, caption: caption(number, settled, open.size, number === ordering.rounds.length - 1) });
  });
  return steps;
}

const key = (first, second) => (first < second ? `${first},${second}` : `${second},${first}`);
const count = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

function caption(number, settled, open, last) {
  const who = number ? `Round ${number}. With the decided links as help,` : "Round 0. At first sight";
  const more = number ? " more" : "";
  const what = settled ? `${settled}${more} ${settled === 1 ? "link is" : "links are"} decided` : `no${more} link is decided`;
  const rest = open ? `${open} ${open === 1 ? "stays" : "stay"} open${last ? " for good" : ""}` : "none is left open";
  return `${who} ${what}, ${rest}.`;
}
