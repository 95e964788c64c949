/** What tests/bench/browser.py asks of an engine: how long an answer takes, and what a million of them are. */

const intake = '../../surveys/intake/static/intake';
const randomiser = async ({ kind }) => (await import(`${intake}/${kind}.js`)).randomise;

/** Return for every case the seconds of its first answer, and of one of many: the median of `rounds` runs of 50 ms or more. */
export async function times(cases, rounds = 9) {
  const found = [];
  for (const { channel, answer } of cases) {
    const randomise = await randomiser(channel);
    const once = () => randomise(answer, channel);
    const first = secondsOf(once, 1);
    let count = 1;
    while (secondsOf(once, count) < 0.05) count *= 2;
    const each = Array.from({ length: rounds }, () => secondsOf(once, count) / count);
    found.push({ first, each: each.sort((a, b) => a - b)[rounds >> 1] });
  }
  return found;
}

function secondsOf(run, count) {
  const start = performance.now();
  for (let i = 0; i < count; i++) run();
  return (performance.now() - start) / 1000;
}

/** Return how often each report came in so many draws, by its JSON. The engine's own chance: nothing is replayed. */
export async function reports({ channel, answer }, draws) {
  const randomise = await randomiser(channel);
  const counts = {};
  for (let i = 0; i < draws; i++) {
    const report = JSON.stringify(randomise(answer, channel));
    counts[report] = (counts[report] ?? 0) + 1;
  }
  return counts;
}

/** Return how often each choice was held, for subsets too many to list. */
export async function holders({ channel, answer }, draws) {
  const randomise = await randomiser(channel);
  const counts = Array(channel.choices).fill(0);
  for (let i = 0; i < draws; i++) for (const choice of randomise(answer, channel)) counts[choice]++;
  return counts;
}
