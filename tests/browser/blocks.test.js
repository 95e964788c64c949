import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerTo, draw, encode } from '../../surveys/intake/static/intake/blocks.js';
import { WORD } from '../../surveys/intake/static/intake/words.js';
import { replay, vectors } from './cases.js';
import { failures } from './replay.js';

test('all vectors of drawn sets and joint answers', async () => {
  const cases = vectors('blocks');
  assert.equal(cases.length, 250);
  assert.deepEqual(await failures(cases), []);
});

test('sets are drawn as often as their weights say', () => {
  const weights = [1, 3, 2, 10];
  const counts = weights.map(() => 0);
  const draws = 32_000;
  for (let i = 0; i < draws; i++) counts[draw(weights)]++;
  const statistic = counts.reduce(
    (sum, count, i) => sum + (count - (draws * weights[i]) / 16) ** 2 / ((draws * weights[i]) / 16),
    0,
  );
  assert.ok(statistic < 30.665, `expected χ² below 30.665, got ${statistic}`); // upper 10⁻⁶ point, 3 degrees of freedom
});

test('one set takes no word, and a word beyond the last whole run is thrown away', () => {
  assert.equal(draw([1], replay([])), 0);
  assert.equal(draw([1, 2], replay([WORD - 1, 2])), 1);
});

test('an answer that is none of the choices is refused without being repeated', () => {
  for (const answers of [[0], [0, 3], [0, -1], [0, 0.5], [0, '1']])
    assert.throws(() => encode(answers, [2, 3]), {
      message: '"answers" expected one of the choices of 2 questions',
    });
});

test('who declines one question of a joint answer declines all, if all are declined as one', () => {
  const own = { kind: 'yes_no', choices: ['No', 'Yes', 'Rather not'], decline: 1 };
  const together = [
    { ...own, name: 'a' },
    { ...own, name: 'b', choices: ['x', 'y', 'Rather not', 'Not asked'], skipped: 1 },
  ];
  const cellOf = (a, b, decline = 1) =>
    answerTo({ name: 'j', together, decline }, new Map(Object.entries({ a, b })));
  assert.deepEqual([cellOf(0, 0), cellOf(0, 1), cellOf(0, 3), cellOf(1, 0)], [0, 1, 2, 3]);
  assert.deepEqual([cellOf(2, 2), cellOf(2, 0), cellOf(1, 2)], [6, 6, 6]);
  assert.deepEqual([cellOf(2, 3, 0), cellOf(1, 2, 0)], [11, 6]); // each by itself: 3 × 4 cells
  assert.equal(answerTo({ name: 'j', together, decline: 1 }, new Map([['a', 2]])), undefined);
  assert.throws(() => cellOf(3, 0), RangeError);
});
