import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verify as verifyClear } from '../../surveys/intake/static/intake/cleartext.js';
import { asked, verify as verifyDrawn } from '../../surveys/intake/static/intake/drawn.js';
import { verify } from '../../surveys/intake/static/intake/verify.js';
import { FakeStorage, vectors } from './cases.js';

const sound = () =>
  structuredClone(vectors('plans').find(({ name }) => name.startsWith('drawn questions, ')).plan);
/** The same, its sets alike in weight: of the vector's one is drawn nearly always. */
const even = () => {
  const plan = sound();
  for (const set of plan.drawn) set.weight = 1;
  return plan;
};
const SETS = [['q1', 'q2'], ['q3', 'q4'], ['q1']];
const checkedOf = (plan) => verify(plan, verifyClear, verifyDrawn);
const namesOf = ({ questions }) => questions.map(({ name }) => name);

test('a person loses what the set that loses most does', () => {
  const plan = sound();
  const { questions } = checkedOf(plan);
  const [, , third, fourth] = questions.map(({ found }) => found);
  const { found, declared } = checkedOf(sound());
  assert.deepEqual(found, [9n, 1n]); // two coins; the other set loses e · 3
  assert.ok(third[0] * fourth[0] < 9n * third[1] * fourth[1]);
  assert.deepEqual(declared, [9n, 1n]);
});

test('whichever set stands first, and a Plan that says less is refused', () => {
  for (const turns of [0, 1, 2]) {
    const plan = sound();
    plan.drawn = [...plan.drawn.slice(turns), ...plan.drawn.slice(0, turns)];
    assert.deepEqual(checkedOf(structuredClone(plan)).found, [9n, 1n]);
    plan.loss = [8, 1];
    assert.throws(() => checkedOf(plan), /all together/);
  }
});

test('a Plan with sets is refused where nothing verifies them', () => {
  assert.throws(() => verify(sound(), verifyClear), /expected no blocks or sets/);
});

test('only what was drawn is asked, beside what is sent as given; numbers count those', async () => {
  const plan = sound();
  const checked = checkedOf(plan);
  const storage = new FakeStorage();
  const drawn = await asked(plan, checked, storage);
  const names = namesOf(drawn.plan);
  const own = names.filter((name) => name.startsWith('q'));
  assert.ok(SETS.some((set) => `${set}` === `${own}`));
  assert.deepEqual(names, [...own, 'choice', 'hours']);
  assert.deepEqual(namesOf(drawn.checked), names);
  assert.deepEqual(
    drawn.checked.questions.map(({ number }) => number),
    [...names.keys()].map((at) => at + 1),
  );
  assert.deepEqual(drawn.checked.declared, checked.declared);
});

test('a draw is kept: a reload and a later wave of the same sets ask the same', async () => {
  const storage = new FakeStorage();
  const plan = even();
  const first = namesOf((await asked(plan, checkedOf(plan), storage)).plan);
  for (let again = 0; again < 30; again += 1) {
    const later = { ...even(), wave: 2 + again };
    assert.deepEqual(namesOf((await asked(later, checkedOf(later), storage)).plan), first);
  }
});

test('a kept draw of other sets, or of no set, is not used, and is written over', async () => {
  for (const kept of ['{"of":"0","set":0}', 'nonsense', 'null', '{"set":2}']) {
    const storage = new FakeStorage();
    storage.setItem('candor.drawn.vectors', kept);
    const plan = even();
    const names = namesOf((await asked(plan, checkedOf(plan), storage)).plan);
    assert.ok(names.length > 2);
    const { of, set } = JSON.parse(storage.getItem('candor.drawn.vectors'));
    assert.match(of, /^[0-9a-f]{64}$/);
    assert.ok(SETS[set].every((name) => names.includes(name)));
    for (const odd of [7, -1, 0.5, 'length', 'map', '__proto__', [1], {}]) {
      storage.setItem('candor.drawn.vectors', JSON.stringify({ of, set: odd }));
      const again = namesOf((await asked(plan, checkedOf(plan), storage)).plan);
      const kept = JSON.parse(storage.getItem('candor.drawn.vectors'));
      assert.ok(
        SETS[kept.set].every((name) => again.includes(name)),
        `${odd}`,
      );
    }
  }
});

test('without storage each page draws', async () => {
  const plan = sound();
  const found = await asked(plan, checkedOf(plan), null);
  assert.ok(namesOf(found.plan).length >= 3);
});

test('sets are drawn as often as their weights say', async () => {
  const plan = sound();
  plan.drawn = [
    { blocks: [0, 1], weight: 1 },
    { blocks: [2], weight: 3 },
  ];
  const checked = checkedOf(plan);
  let second = 0;
  for (let times = 0; times < 2000; times += 1)
    second += Number(namesOf((await asked(plan, checked, null)).plan).includes('q3'));
  assert.ok(Math.abs(second - 1500) < 6 * Math.sqrt(2000 * 0.1875), `${second}`); // 1 in 10⁸
});
