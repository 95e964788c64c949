import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prepare } from '../../surveys/intake/static/intake/channels.js';
import * as odds from '../../surveys/intake/static/intake/odds.js';
import { EVERY_KIND } from './cases.js';

await prepare({ questions: EVERY_KIND });

const WORD = 2 ** 32;
const near = (/** @type {number} */ found, /** @type {number} */ expected) =>
  assert.ok(Math.abs(found - expected) < 1e-12, `${found}, not ${expected}`);
const coin = {
  kind: 'table',
  weights: [
    [3, 1],
    [1, 3],
  ],
};
/** Subset of size 1 at ε = 1, rounded towards privacy. */
const five = {
  kind: 'subset',
  choices: 5,
  size: 1,
  keep: Math.floor((WORD * Math.E) / (Math.E + 4)),
};

test('the coin of the book is 75 : 25, and a guess is right 75 times in 100', () => {
  assert.equal(odds.tellingOf({ channel: coin }), 'flip');
  assert.equal(odds.shareOf({ channel: coin }, 1), 0.75);
  near(odds.guessShare({ channel: coin }), 0.75);
});

test('one of five at ε = 1 sends its own 40 times in 100, where luck is 20, and a guess between two is right 73 times', () => {
  assert.equal(odds.tellingOf({ channel: five }), 'spread');
  assert.equal(odds.ofHundred(odds.shareOf({ channel: five }, 0)), 40);
  assert.equal(odds.ofHundred(odds.guessShare({ channel: five })), 73);
  assert.equal(odds.ofHundred(odds.luckShare({ channel: five })), 20);
});

test('of several choices sent, a guess is between two of them all', () => {
  const two = { kind: 'subset', choices: 4, size: 2, keep: (WORD * 3) / 4 }; // e^ε = 3: 3 of 3 + 3 + 1 + 1
  assert.equal(odds.tellingOf({ channel: two }), 'several');
  near(odds.guessShare({ channel: two }), 3 / 4);
  assert.equal(odds.luckShare({ channel: two }), 0.5);
});

test('a table that is not even is told as uneven', () => {
  assert.equal(
    odds.tellingOf({
      channel: {
        kind: 'table',
        weights: [
          [3, 1],
          [2, 2],
        ],
      },
    }),
    'flip-uneven',
  );
  assert.equal(
    odds.tellingOf({
      channel: {
        kind: 'table',
        weights: [
          [5, 3, 2],
          [2, 6, 2],
          [1, 3, 6],
        ],
      },
    }),
    'uneven',
  );
});

test('nothing that can happen is told as never, and nothing uncertain as always', () => {
  assert.deepEqual([0, 0.001, 0.731, 0.999, 1].map(odds.ofHundred), [0, 1, 73, 99, 100]);
});

test('what 1 and 99 would understate is told as beyond them', () => {
  assert.deepEqual([0.001, 0.005, 0.731, 0.994, 0.995, 0.9951, 0.9997].map(odds.told), [
    '<1',
    1,
    73,
    99,
    99,
    '>99',
    '>99',
  ]);
});

test('two answers at ln 3 put together make a guess right 90 times in 100', () => {
  assert.ok(Math.abs(odds.togetherShare([9n, 1n]) - 0.9) < 1e-12);
});

test('ε is told to two decimals, from integers of any size', () => {
  assert.equal(odds.epsilon([3n, 1n]), '1.10');
  assert.equal(odds.epsilon([3n * 10n ** 400n, 10n ** 400n]), '1.10');
  assert.equal(odds.epsilon([1n, 1n]), '0.00');
});

test('a ratio is told to six decimals', () => {
  assert.equal(odds.decimal([1569936343n, 577547305n]), '2.718282');
  assert.equal(odds.decimal([3n, 1n]), '3');
  assert.equal(odds.decimal([2980n, 1n]), '2980');
  assert.equal(odds.decimal([21n, 20n]), '1.05');
});

test('yes comes before no, and prefer not to say last', () => {
  assert.deepEqual(
    odds.shownOrder({ kind: 'yes_no', choices: ['No', 'Yes', 'Prefer not to say'] }),
    [1, 0, 2],
  );
  assert.deepEqual(odds.shownOrder({ kind: 'likert', choices: ['a', 'b', 'c'] }), [0, 1, 2]);
});

/** Whether one of three boxes is ticked, kept 3 times of 4. */
const boxes = {
  kind: 'multiple',
  choices: ['a', 'b', 'c'],
  channel: { kind: 'one_of', options: 3, keep: (WORD * 3) / 4 },
};
/** A number from 0 to 10, sent as one of three marks. */
const number = {
  kind: 'number',
  least: 0,
  most: 10,
  wanted: 'mean',
  channel: {
    kind: 'number',
    grid: [0, 5, 10],
    weights: [
      [6, 3, 1],
      [3, 4, 3],
      [1, 3, 6],
    ],
  },
};
/** Ten numbers in five bins, each sent as itself or a neighbour more often than as another. */
const spread = {
  kind: 'number',
  least: 1,
  most: 10,
  bins: 5,
  wanted: 'distribution',
  channel: {
    kind: 'table',
    weights: [
      [3, 3, 1, 1, 1, 1, 1],
      [1, 3, 3, 1, 1, 1, 1],
      [1, 1, 3, 3, 1, 1, 1],
      [1, 1, 1, 3, 3, 1, 1],
      [1, 1, 1, 1, 1, 3, 3],
    ],
  },
};

test('of several boxes one is told of, and what is sent of it is true as often as its bit is kept', () => {
  assert.equal(odds.tellingOf(boxes), 'one-of');
  assert.equal(odds.shareOf(boxes, [0]), 0.75);
  near(odds.guessShare(boxes), 0.75);
  assert.deepEqual(
    [
      [0, 1],
      [0, 0],
      [1, 1],
      [1, 0],
    ].map((value) => odds.holds(boxes, [0], value)),
    [true, false, false, true],
  );
});

/** Which of two boxes in a row, of three, are ticked: kept as they are every other time. */
const twoBoxes = { ...boxes, channel: { ...boxes.channel, keep: WORD / 2, together: 2 } };

test('of several boxes two are told of, all at once, and a guess is about one by who knows the other', () => {
  assert.equal(odds.tellingOf(twoBoxes), 'some-of');
  assert.deepEqual([odds.shareOf(twoBoxes, [0]), odds.luckShare(twoBoxes)], [0.5, 0.25]);
  near(odds.guessShare(twoBoxes), 0.75);
  assert.deepEqual(
    [
      [0, 2],
      [0, 3],
      [1, 0],
      [2, 1],
      [2, 2],
    ].map((value) => odds.holds(twoBoxes, [0], value)),
    [true, false, true, true, false],
  );
});

test('a number points high as often as the marks that the greatest number makes likelier', () => {
  assert.equal(odds.tellingOf(number), 'ends');
  assert.deepEqual(
    [10, 0].map((steps) => odds.shareOf(number, steps)),
    [0.6, 0.1],
  );
  assert.ok(Math.abs(odds.shareOf(number, 7) - 0.42) < 1e-12); // two fifths of the way from .3 to .6
  near(odds.guessShare(number), 6 / 7);
  assert.deepEqual(
    [0, 1, 2].map((mark) => odds.holds(number, 10, mark)),
    [false, false, true],
  );
});

test('of a number whose spread is wanted, marks near it are told, and luck', () => {
  assert.equal(odds.tellingOf(spread), 'near');
  assert.equal(odds.shareOf(spread, 3), 6 / 11);
  assert.equal(odds.luckShare(spread), 2 / 7);
  assert.deepEqual(
    [0, 1, 2, 3].map((mark) => odds.holds(spread, 3, mark)),
    [false, true, true, false],
  );
});

test('“Not asked” is never offered for choosing, and “Does not apply” is the last choice', () => {
  const question = {
    kind: 'yes_no',
    choices: ['No', 'Yes', 'Prefer not to say', 'the last'],
    decline: 1,
    skipped: 1,
  };
  assert.deepEqual(
    odds.shownOrder({ ...question, asked_if: { question: 'first', answers: [1] } }),
    [1, 0, 2],
  );
  assert.deepEqual(odds.shownOrder(question), [1, 0, 2, 3]);
});

test('what is said to be at most is never less than it is', () => {
  assert.deepEqual([0.5, 0.731, 0.73106, 0.75, 0.7, 0.28, 0.9897].map(odds.atMost), [
    '50',
    '74',
    '74',
    '75',
    '70',
    '28',
    '99',
  ]);
  assert.deepEqual([0.9901, 0.995, 0.9951, 0.99966, 1].map(odds.atMost), [
    '99.1',
    '99.5',
    '99.6',
    '99.97',
    '100',
  ]);
});

test('a bound is the next whole number, and no further off', () => {
  for (let share = 0.5; share < 0.995; share += 0.00037)
    assert.ok(
      Number(odds.atMost(share)) >= share * 100 && Number(odds.atMost(share)) < share * 100 + 1,
    );
});

test('odds are of the integers that a channel of its kind is verified by, whatever else it holds', () => {
  const sure = {
    kind: 'table',
    weights: [
      [19, 1],
      [1, 19],
    ],
    keep: WORD * 0.51,
    size: 1,
    choices: 2,
  };
  const asked = /** @type {any} */ ({
    kind: 'yes_no',
    choices: ['No', 'Yes'],
    channel: sure,
    bins: 2,
  });
  assert.deepEqual([odds.shareOf(asked, 0), odds.shareOf(asked, 1)], [0.95, 0.95]);
  near(odds.guessShare(asked), 0.95);
  assert.equal(odds.tellingOf(asked), 'flip');
});
