import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomise } from '../../surveys/intake/static/intake/number.js';
import { replay, vectors } from './cases.js';

for (const { name, channel, answer, words, report } of vectors('number'))
  test(`it agrees with Python word for word: ${name}`, () => {
    const replayed = replay(words);
    assert.equal(randomise(answer, channel, replayed), report);
    assert.equal(replayed.left(), 0, 'every word is used');
  });

const THIRDS = {
  kind: 'number',
  grid: [0, 3, 6],
  weights: [
    [5, 2, 1],
    [3, 2, 3],
    [1, 2, 5],
  ],
};

test('a point of the grid takes no word for rounding', () => {
  const replayed = replay([0]);
  assert.equal(randomise(3, THIRDS, replayed), 0);
});

test('an answer between two points goes up with chance in proportion to how near the upper one is', () => {
  const rows = [0, 1, 2].map((word) => randomise(5, THIRDS, replay([word, 4]))); // 4 of 8: report 1 of row 1, 2 of row 2
  assert.deepEqual(rows, [2, 2, 1]);
});

for (const answer of [987, -987, 0.987, '987', NaN, undefined])
  test(`an error does not repeat the answer (${typeof answer} ${answer})`, () => {
    assert.throws(
      () => randomise(answer, THIRDS, replay([])),
      (error) => error instanceof RangeError && !/987|NaN|undefined/.test(error.message),
    );
  });

test('draws of the operating system follow the mixture of two rows', () => {
  const draws = 30_000;
  const counts = [0, 0, 0];
  for (let i = 0; i < draws; i++) counts[randomise(1, THIRDS)]++;
  const shares = [13 / 24, 2 / 8, 5 / 24]; // two thirds of row 0, one third of row 1
  const statistic = counts.reduce(
    (sum, count, i) => sum + (count - draws * shares[i]) ** 2 / (draws * shares[i]),
    0,
  );
  assert.ok(
    statistic < 27.631,
    `expected χ² below 27.631 (a false alarm once in a million runs), got ${statistic}`,
  );
});
