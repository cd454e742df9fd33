// What can be read off the pair probabilities and off two orders.

/** A function (first, second) -> the chance that first comes before second; one half where nothing is known. */
export function chances(pairs) {
  const chance = {};
  for (const [first, second, probability] of pairs) {
    chance[`${first},${second}`] = probability;
    chance[`${second},${first}`] = 1 - probability;
  }
  return (first, second) => chance[`${first},${second}`] ?? 0.5;
}

/** Whether two orders are the same. */
export const same = (one, other) => one.length === other.length && one.every((value, position) => value === other[position]);

/** The sentences that would have to be moved to get from one order to the other: the fewest possible. */
export function moved(from, to) {
  const position = Object.fromEntries(from.map((sentence, at) => [sentence, at]));
  const best = []; // for each position of `to`: the longest run in the same sequence that ends there
  to.forEach((sentence, at) => {
    let before = null;
    for (let earlier = 0; earlier < at; earlier += 1) {
      if (position[to[earlier]] < position[sentence] && (before === null || best[earlier].length > best[before].length)) before = earlier;
    }
    best.push({ length: before === null ? 1 : best[before].length + 1, before });
  });
  const kept = new Set();
  let at = best.reduce((most, one, number) => (one.length > (best[most]?.length ?? 0) ? number : most), 0);
  while (at !== null && at < to.length) {
    kept.add(to[at]);
    at = best[at].before;
  }
  return to.filter((sentence) => !kept.has(sentence));
}

/** How many of all pairs stand the same way round in both orders: [agreeing, all]. */
export function agreement(one, other) {
  const position = Object.fromEntries(other.map((sentence, at) => [sentence, at]));
  let agreeing = 0;
  one.forEach((first, at) => one.slice(at + 1).forEach((second) => (agreeing += position[first] < position[second] ? 1 : 0)));
  return [agreeing, (one.length * (one.length - 1)) / 2];
}
