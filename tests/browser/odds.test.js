import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as odds from '../../surveys/intake/static/intake/odds.js';

const WORD = 2 ** 32;
const coin = { kind: 'table', weights: [[3, 1], [1, 3]] };
/** Subset of size 1 at ε = 1, rounded towards privacy. */
const five = { kind: 'subset', choices: 5, size: 1, keep: Math.floor((WORD * Math.E) / (Math.E + 4)) };

test('the coin of the book is 75 : 25, and a guess is right 75 times in 100', () => {
  assert.equal(odds.tellingOf(coin), 'flip');
  assert.equal(odds.ownShare(coin, 1), 0.75);
  assert.equal(odds.guessShare(coin), 0.75);
  assert.equal(odds.blindShare(coin), 0.5);
});

test('one of five at ε = 1 sends its own 40 times in 100, where luck is 20', () => {
  assert.equal(odds.tellingOf(five), 'spread');
  assert.equal(odds.ofHundred(odds.ownShare(five, 0)), 40);
  assert.equal(odds.ofHundred(odds.guessShare(five)), 40);
  assert.equal(odds.ofHundred(odds.luckShare(five)), 20);
});

test('a guess from several choices is shared among them', () => {
  const two = { kind: 'subset', choices: 4, size: 2, keep: (WORD * 3) / 4 }; // e^ε = 3: 3 of 3 + 3 + 1 + 1
  assert.equal(odds.tellingOf(two), 'several');
  assert.equal(odds.guessShare(two), 3 / 8);
  assert.equal(odds.luckShare(two), 0.5);
});

test('a table that is not even is told as uneven', () => {
  assert.equal(odds.tellingOf({ kind: 'table', weights: [[3, 1], [2, 2]] }), 'flip-uneven');
  assert.equal(odds.tellingOf({ kind: 'table', weights: [[5, 3, 2], [2, 6, 2], [1, 3, 6]] }), 'uneven');
});

test('nothing that can happen is told as never, and nothing uncertain as always', () => {
  assert.deepEqual([0, 0.001, 0.731, 0.999, 1].map(odds.ofHundred), [0, 1, 73, 99, 100]);
});

test('what 1 and 99 would understate is told as beyond them', () => {
  assert.deepEqual([0.001, 0.005, 0.731, 0.994, 0.995, 0.9951, 0.9997].map(odds.told), ['<1', 1, 73, 99, 99, '>99', '>99']);
});

test('a report tells as much as its likeliest answer, or its best guess', () => {
  assert.equal(odds.strength(coin), 0.75);
  assert.equal(odds.strength({ kind: 'table', weights: [[10, 10], [1, 19]] }), 0.95);
  assert.equal(odds.strength({ kind: 'subset', choices: 4, size: 2, keep: (WORD * 3) / 4 }), 0.75);
  assert.equal(odds.ofHundred(odds.strength(five)), 40);
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
  assert.deepEqual(odds.shownOrder({ kind: 'yes_no', choices: ['No', 'Yes', 'Prefer not to say'] }), [1, 0, 2]);
  assert.deepEqual(odds.shownOrder({ kind: 'likert', choices: ['a', 'b', 'c'] }), [0, 1, 2]);
});
