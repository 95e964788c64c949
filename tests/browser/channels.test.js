import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inputOf, prepare, randomise } from '../../surveys/intake/static/intake/channels.js';
import { saidOf } from '../../surveys/intake/static/intake/one_of.js';
import { systemWords, WORD } from '../../surveys/intake/static/intake/words.js';
import { draws, replay, vectors } from './cases.js';

const ONE_OF = { kind: 'one_of', options: 3, keep: 3 * 2 ** 30 };

test('a kind that was not fetched is refused, by name', () => {
  assert.throws(
    () => randomise({ channel: ONE_OF }, [0]),
    /expected a channel of table,.* got one_of/,
  );
});

for (const kind of ['constructor', '__proto__', 'toString'])
  test(`a kind called ${kind} is refused, by name`, () => {
    assert.throws(
      () => randomise({ name: 'q', channel: { ...ONE_OF, kind } }, 0),
      new RegExp(`^TypeError: q: expected a channel of table,.* got ${kind}$`),
    );
  });

test('what no question needs is not fetched', async () => {
  await prepare({
    questions: [
      {
        channel: {
          kind: 'table',
          weights: [
            [3, 1],
            [1, 3],
          ],
        },
      },
    ],
  });
  assert.throws(() => randomise({ channel: ONE_OF }, [0]), /got one_of/);
});

test('what a question needs is fetched', async () => {
  await prepare({ questions: [{ channel: ONE_OF }] });
  assert.deepEqual(randomise({ channel: ONE_OF }, [0, 2], replay([4, 0])), [1, 0]);
});

for (const { name, channel, answer, words, report } of draws())
  test(`it agrees with Python word for word: ${name}`, async () => {
    await prepare({ questions: [{ channel }] });
    const replayed = replay(words);
    assert.deepEqual(randomise({ channel }, answer, replayed), report);
    assert.equal(replayed.left(), 0, 'every word is used');
  });

for (const { name, question, answer, words, report } of vectors('questions'))
  test(`it sends what Python sends for a whole question: ${name}`, async () => {
    await prepare({ questions: [question] });
    const replayed = replay(words);
    assert.deepEqual(randomise(question, inputOf(question, answer), replayed), report);
    assert.equal(replayed.left(), 0, 'every word is used');
  });

const TABLE = {
  kind: 'table',
  weights: [
    [5, 3, 2],
    [2, 6, 2],
    [1, 3, 6],
  ],
};
const SUBSET = { kind: 'subset', choices: 7, size: 2, keep: 2 ** 31 };

for (const channel of [TABLE, SUBSET])
  for (const answer of [987, -987, 0.987, '987', undefined])
    test(`an error of a ${channel.kind} does not repeat the answer (${typeof answer} ${answer})`, () => {
      assert.throws(
        () => randomise({ channel }, answer, replay([])),
        (error) => error instanceof RangeError && !/987|undefined/.test(error.message),
      );
    });

for (const answer of [0, '01', [987], [1, 0], [1, 1], [-987], [0.987], ['1'], undefined])
  test(`an error of a one_of does not repeat the answer (${typeof answer} ${answer})`, () => {
    assert.throws(
      () => randomise({ channel: ONE_OF }, answer, replay([])),
      (error) => error instanceof RangeError && !/987|undefined/.test(error.message),
    );
  });

test('what is told of ticks is said option by option, round the ring', () => {
  assert.deepEqual(saidOf(ONE_OF, [1, 0]), [[1, false]]);
  assert.deepEqual(saidOf({ ...ONE_OF, together: 2 }, [2, 1]), [
    [2, false],
    [0, true],
  ]);
});

for (const kind of ['trust', 'constructor', undefined])
  test(`the kind ${kind}, which is not known, is refused`, () => {
    assert.throws(() => randomise({ channel: { kind } }, 0), TypeError);
  });

test('a table sends what its weights say, by the words of the operating system', () => {
  const counts = tallyOf(TABLE, 1, (report) => report, 3);
  expectChance(counts, [0.2, 0.6, 0.2]);
});

test('a subset holds the answer as often as its keep says, and every subset of a kind alike', () => {
  const pairs = [...Array(7).keys()].flatMap((a) =>
    [...Array(7).keys()].filter((b) => b > a).map((b) => `${a},${b}`),
  );
  const counts = tallyOf(SUBSET, 3, (report) => pairs.indexOf(String(report)), pairs.length);
  const share = SUBSET.keep / WORD;
  expectChance(
    counts,
    pairs.map((pair) => (pair.includes('3') ? share / 6 : (1 - share) / 15)),
  );
});

test('one of many asks about each option alike, and keeps its bit as often as its keep says', () => {
  const counts = tallyOf(ONE_OF, [1], ([option, bit]) => 2 * option + bit, 6);
  const [kept, turned] = [ONE_OF.keep / WORD / 3, (1 - ONE_OF.keep / WORD) / 3];
  expectChance(counts, [kept, turned, turned, kept, kept, turned]);
});

const DRAWS = 100_000;

function tallyOf(channel, answer, indexOf, size) {
  const counts = Array(size).fill(0);
  for (let i = 0; i < DRAWS; i++) counts[indexOf(randomise({ channel }, answer, systemWords))]++;
  return counts;
}

/** Compare counts with shares by χ². The false alarm of each of the three tests has chance 10⁻⁶: one run of all in 333,000. */
function expectChance(counts, shares) {
  const statistic = counts.reduce(
    (sum, count, i) => sum + (count - DRAWS * shares[i]) ** 2 / (DRAWS * shares[i]),
    0,
  );
  const greatest = { 2: 27.631, 5: 35.888, 20: 65.421 }[counts.length - 1]; // upper 10⁻⁶ points of χ² with so many degrees of freedom
  assert.ok(statistic < greatest, `expected χ² below ${greatest}, got ${statistic}`);
}
