import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  askedOf,
  complete,
  isAsked,
  openOf,
  placeFrom,
  reachable,
  screensOf,
} from '../../surveys/intake/static/intake/branches.js';

const question = (name, rest = {}) => ({
  name,
  kind: 'single',
  choices: ['a', 'b', 'Not asked'],
  ...rest,
});
/** The second is asked after "b", the third after the second's "a"; the last two are a matrix. */
const plan = /** @type {any} */ ({
  questions: [
    question('first', { choices: ['a', 'b'] }),
    question('second', { skipped: 1, asked_if: { question: 'first', answers: [1] } }),
    question('third', {
      kind: 'multiple',
      skipped: 1,
      asked_if: { question: 'second', answers: [0] },
    }),
    question('m1', { group: { name: 'm' } }),
    question('m2', { group: { name: 'm' } }),
  ],
});
const given = (pairs) => new Map(Object.entries(pairs));

test('a question is asked only after the answers that it names', () => {
  assert.equal(isAsked(plan, 0, given({})), true);
  assert.equal(isAsked(plan, 1, given({})), false);
  assert.equal(isAsked(plan, 1, given({ first: 0 })), false);
  assert.equal(isAsked(plan, 1, given({ first: 1 })), true);
});

test('a question after one that is not asked is not asked, whatever that one was answered before', () => {
  assert.equal(isAsked(plan, 2, given({ first: 1, second: 0 })), true);
  assert.equal(isAsked(plan, 2, given({ first: 0, second: 0 })), false);
});

test('who is not asked answers “Not asked”, so that every message has an answer to every question', () => {
  const short = complete(plan, given({ first: 0, second: 0, m1: 1, m2: 0 }));
  assert.deepEqual(
    [...short],
    [
      ['first', 0],
      ['second', 2],
      ['third', [2]],
      ['m1', 1],
      ['m2', 0],
    ],
  );
  const long = complete(plan, given({ first: 1, second: 0, third: [], m1: 1, m2: 0 }));
  assert.deepEqual(
    [...long],
    [
      ['first', 1],
      ['second', 0],
      ['third', []],
      ['m1', 1],
      ['m2', 0],
    ],
  );
  assert.deepEqual([...short.keys()], [...long.keys()]);
});

test('an answer that is missing stays missing: nothing is made up for a question that was asked', () => {
  assert.equal(complete(plan, given({ first: 1 })).has('second'), false);
});

test('neighbours of a group share a screen, and on a page all questions do', () => {
  assert.deepEqual(screensOf(plan), [[0], [1], [2], [3, 4]]);
  assert.deepEqual(screensOf({ ...plan, layout: 'page' }), [[0, 1, 2, 3, 4]]);
});

test('a screen on which nothing is asked is passed over', () => {
  assert.equal(placeFrom(plan, 2, given({ first: 0 })), 4);
  assert.equal(placeFrom(plan, 2, given({ first: 1 })), 2);
  assert.equal(placeFrom(plan, 5, given({ first: 0 })), 5);
  assert.equal(placeFrom(plan, 0, given({})), 0);
});

test('nobody gets past a question that is still open', () => {
  assert.equal(reachable(plan, Infinity, given({})), 1);
  assert.equal(reachable(plan, 5, given({ first: 1 })), 2);
  assert.equal(reachable(plan, 5, given({ first: 0, m1: 0 })), 4);
  assert.equal(reachable(plan, Infinity, given({ first: 0, m1: 0, m2: 0 })), 5);
  assert.deepEqual(openOf(plan, [3, 4], given({ m1: 0 })), [4]);
  assert.deepEqual(askedOf(plan, [0, 1], given({ first: 0 })), [0]);
});
