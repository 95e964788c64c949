import assert from 'node:assert/strict';
import { test } from 'node:test';
import { estimate, toss } from '../../surveys/static/candor/coin.js';

/** Every pair of coins once, for each person. @param {Uint8Array} array */
const everyPair = (array) => array.map((_, at) => at % 4);

test('tails sends the true answer; heads sends yes for heads and no for tails', () => {
  const with_coins = (/** @type {number} */ coins) => (/** @type {Uint8Array} */ array) =>
    array.fill(coins);
  const [tails, headsThenTails, headsThenHeads] = [0b10, 0b01, 0b11]; // first coin: the last bit; 1: heads
  assert.deepEqual(
    [tails, headsThenTails, headsThenHeads].map((coins) => toss(1, 1, with_coins(coins))),
    [1, 0, 1],
  );
  assert.deepEqual(
    [tails, headsThenTails, headsThenHeads].map((coins) => toss(1, 0, with_coins(coins))),
    [0, 0, 1],
  );
});

test('of people who say yes three in four send yes, of the others one in four, and 2λ − ½ finds the share', () => {
  assert.equal(toss(400, 1, everyPair), 300);
  assert.equal(toss(400, 0, everyPair), 100);
  const yes = toss(400, 0.3, everyPair);
  assert.ok(Math.abs(estimate(yes, 400).found - 0.3) < 1e-12);
});

test('an interval is 1.96 times the error of 2λ − ½, within 0 and 1', () => {
  const { sent, found, low, high } = estimate(160, 400);
  assert.equal(sent, 0.4);
  assert.ok(Math.abs(found - 0.3) < 1e-12);
  assert.ok(Math.abs((high - low) / 2 - 1.96 * 2 * Math.sqrt((0.4 * 0.6) / 400)) < 1e-12);
  assert.deepEqual([estimate(0, 10).low, estimate(10, 10).high], [0, 1]);
});
