import assert from 'node:assert/strict';
import { test } from 'node:test';
import { below, sample, systemWords, WORD } from '../../surveys/intake/static/intake/words.js';
import { replay } from './cases.js';

test('below one takes no word', () => {
  assert.equal(below(1, replay([])), 0);
});

test('below throws away words of the last, incomplete run', () => {
  const words = replay([WORD - 1, 7]); // 2³² mod 3 = 1: the last word belongs to no run of three
  assert.equal(below(3, words), 1);
  assert.equal(words.left(), 0);
});

test('below keeps the last word of the last full run', () => {
  assert.equal(below(3, replay([WORD - 2])), 2);
});

test('below a power of two throws nothing away', () => {
  assert.equal(below(WORD, replay([WORD - 1])), WORD - 1);
  assert.equal(below(2, replay([WORD - 1])), 1);
});

for (const n of [0, -1, 1.5, WORD + 1, NaN])
  test(`below refuses ${n}`, () => assert.throws(() => below(n, replay([])), /expected 1 to 2³²/));

test('sample is the head of a shuffle, drawn in order', () => {
  assert.deepEqual(sample(['a', 'b', 'c', 'd'], 2, replay([2, 0])), ['c', 'b']);
});

test('sample of everything takes no word for the last item, and leaves its input alone', () => {
  const items = Object.freeze(['a', 'b', 'c']);
  assert.deepEqual(sample(items, 3, replay([0, 1])), ['a', 'c', 'b']);
});

test('sample refuses more than there are', () => {
  assert.throws(() => sample(['a'], 2, replay([])), /expected 0 to 1, got 2/);
});

test('system words are integers below 2³² and do not repeat over a refill', () => {
  const drawn = Array.from({ length: 1000 }, systemWords);
  assert.ok(drawn.every((word) => Number.isInteger(word) && word >= 0 && word < WORD));
  // 1000 words of 32 bits: some pair alike about once in 8600 runs; eleven pairs alike practically never.
  assert.ok(new Set(drawn).size > 990);
});

test('chance comes from the operating system only', async () => {
  const { readdirSync, readFileSync } = await import('node:fs');
  const folder = new URL('../../surveys/intake/static/intake/', import.meta.url);
  const sources = readdirSync(folder).filter((name) => name.endsWith('.js'));
  assert.ok(sources.length > 5);
  for (const name of sources)
    assert.doesNotMatch(
      readFileSync(new URL(name, folder), 'utf8'),
      /Math\.random|innerHTML|outerHTML|insertAdjacentHTML|console\./,
      name,
    );
});
