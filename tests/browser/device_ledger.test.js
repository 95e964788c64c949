import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  add,
  erase,
  eraseAll,
  guess,
  lineOf,
  lines,
  settle,
  together,
} from '../../surveys/intake/static/intake/device_ledger.js';
import { FakeStorage, soundPlan, vectors } from './cases.js';

const study = {
  plan: { ...soundPlan(), slug: 'exams', title: 'Exams', wave: 1 },
  digest: 'd'.repeat(64),
  checked: { found: [9n, 1n] },
};
const line = (changes = {}) => ({ ...lineOf(study, false), ...changes });

test('a line says which study, which day and what it cost, and nothing of the answers', () => {
  const { day, ...rest } = lineOf(study, true);
  assert.match(day, /^\d{4}-\d\d-\d\d$/);
  assert.deepEqual(rest, {
    slug: 'exams',
    title: 'Exams',
    wave: 1,
    digest: study.digest,
    loss: ['9', '1'],
    given: 0,
    again: true,
    state: 'unsure',
  });
});

test('lines are kept in order, and erased one by one and all together', () => {
  const storage = new FakeStorage();
  for (const slug of ['a', 'b', 'c']) add(line({ slug }), storage);
  erase(lines(storage)[1], storage);
  assert.deepEqual(
    lines(storage).map(({ slug }) => slug),
    ['a', 'c'],
  );
  eraseAll(storage);
  assert.deepEqual(Object.keys(storage), []);
});

test('erasing one of two lines that are alike leaves the other', () => {
  const storage = new FakeStorage();
  for (const each of [line(), line()]) add(each, storage);
  erase(lines(storage)[0], storage);
  assert.equal(lines(storage).length, 1);
});

test('what became of a message is said of its own line: the last one open of its Plan', () => {
  const storage = new FakeStorage();
  for (const each of [
    line({ state: 'sent', day: '2026-01-01' }),
    line(),
    line({ digest: 'e'.repeat(64) }),
  ])
    add(each, storage);
  settle(study.digest, { state: 'sent', day: '2026-05-11' }, storage);
  assert.deepEqual(
    lines(storage).map(({ state }) => state),
    ['sent', 'sent', 'unsure'],
  );
  assert.equal(lines(storage)[1].day, '2026-05-11');
  settle(study.digest, { receipt: 'CN4F-7QKM-2XW9' }, storage);
  assert.deepEqual(
    lines(storage).map(({ receipt }) => receipt),
    [undefined, 'CN4F-7QKM-2XW9', undefined],
  );
});

test('without a line nothing is settled', () => {
  const storage = new FakeStorage();
  settle(study.digest, { state: 'sent' }, storage);
  assert.deepEqual(Object.keys(storage), []);
});

for (const kept of [
  '',
  '{',
  '{}',
  'null',
  '[null, 1, {"slug": 1}, {"slug": "a", "loss": ["x", "1"]}, {"slug": "a", "loss": [1]}, {"slug": "a", "loss": ["1", "0"]}]',
])
  test(`what is no list is none: ${kept}`, () => {
    const storage = new FakeStorage();
    storage.setItem('candor.statement', kept);
    assert.deepEqual(lines(storage), []);
  });

test('it works where storage is forbidden', () => {
  assert.deepEqual(lines(undefined), []);
  add(line(), undefined);
  eraseAll(undefined);
});

test('limits multiply: three studies at 3, 9 and 7/2', () => {
  const some = [
    ['3', '1'],
    ['9', '1'],
    ['7', '2'],
  ].map((loss) => line({ loss }));
  assert.deepEqual(together(some), [189n, 2n]);
  assert.deepEqual(together([]), [1n, 1n]);
});

test('how sure someone becomes who knew nothing', () => {
  const losses = [
    [1n, 1n],
    [2n, 1n],
    [3n, 1n],
    [9n, 1n],
  ];
  assert.deepEqual(losses.map(guess), ['50', '67', '75', '90']);
});

test('a figure under “at most” is rounded up: it never says less than could be, nor that the uncertain is certain', () => {
  const losses = [
    [2718n, 1000n],
    [301n, 100n],
    [200n, 1n],
    [2208n, 1n],
    [10n ** 40n, 1n],
  ];
  assert.deepEqual(losses.map(guess), ['74', '76', '99.6', '99.96', '100']);
});

test('a bound is the same number as the one that the site says', () => {
  for (const { loss, bound } of vectors('bounds')) assert.equal(guess(loss.map(BigInt)), bound);
});
