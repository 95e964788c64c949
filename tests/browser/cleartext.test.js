import assert from 'node:assert/strict';
import { test } from 'node:test';
import { padding, readersShare } from '../../surveys/intake/static/intake/cleartext.js';
import { atMost } from '../../surveys/intake/static/intake/odds.js';
import { composeReport } from '../../surveys/intake/static/intake/report.js';

const QUESTIONS = [
  {
    name: 'earned',
    kind: 'number',
    protection: 'publication',
    choices: [],
    least: -(2 ** 31),
    most: 2 ** 31,
  },
  {
    name: 'region',
    kind: 'single',
    protection: 'publication',
    choices: Array.from({ length: 256 }, (_, i) => `${i}`),
  },
];

test('a message is equally long whatever was answered, for whoever watches the line sees its length', async () => {
  const plan = /** @type {any} */ ({ questions: QUESTIONS });
  const lengths = new Set();
  for (const earned of [0, -0, 7, -7, 918273645, 2 ** 31, -(2 ** 31)])
    for (const region of [0, 9, 10, 255]) {
      const answers = new Map([
        ['earned', earned],
        ['region', region],
      ]);
      const report = await composeReport(
        plan,
        'd'.repeat(64),
        answers,
        /** @type {any} */ (undefined),
      ); // nothing is drawn
      const body = JSON.stringify(report) + padding(plan, answers);
      assert.deepEqual(JSON.parse(body), JSON.parse(JSON.stringify(report)));
      lengths.add(body.length);
    }
  assert.equal(lengths.size, 1);
});

const told = (caps, neighbours = 'change-one') =>
  atMost(readersShare(/** @type {any} */ ({ caps, neighbours })));

test('who knows every other answer is told of by the cap: at ε = 1 right 74 times in 100 at most', () => {
  assert.deepEqual(
    ['0.1', '1', '2', '4', '8'].map((central_epsilon) => told({ central_epsilon })),
    ['53', '74', '89', '99', '99.97'],
  );
});

test('where one answer is protected, it is told of all that are sent as given together', () => {
  const plan = { caps: { central_epsilon: '1' }, unit: 'answer-in-study', questions: QUESTIONS };
  assert.equal(atMost(readersShare(/** @type {any} */ (plan))), '89');
  const many = { ...plan, questions: Array(100).fill(QUESTIONS[0]) };
  assert.equal(atMost(readersShare(/** @type {any} */ (many))), '100');
});

test('where each wave has a cap of its own, it is told of all waves that are planned', () => {
  const toldIn = (/** @type {object} */ more) =>
    atMost(readersShare(/** @type {any} */ ({ unit: 'respondent-in-wave', ...more })));
  const caps = { central_epsilon: '1' };
  assert.deepEqual([toldIn({ caps }), toldIn({ caps, waves: 2 })], ['74', '89']);
  const all = { central_epsilon: '0.25', central_delta: '0.01', central_rho: '0.02' };
  assert.equal(toldIn({ caps: all, waves: 4 }), '75');
});

test('where taking part is protected, another answer is one person less and one more', () => {
  assert.equal(told({ central_epsilon: '1' }, 'add-remove'), '89');
  const caps = { central_epsilon: '1', central_delta: '0.1', central_rho: '0.02' };
  assert.equal(told(caps, 'add-remove'), '93');
});

test('a δ adds δ/(e^ε + 1), and a ρ that is more than ε and δ make it is told as what it is', () => {
  assert.equal(
    told({ central_epsilon: '1', central_delta: '0.000001', central_rho: '0.017857142857' }),
    '74',
  );
  assert.equal(told({ central_epsilon: '1', central_delta: '0.1', central_rho: '0.02' }), '76');
  assert.equal(told({ central_epsilon: '1', central_delta: '0.000001', central_rho: '0.5' }), '76');
  assert.equal(
    told({ central_epsilon: '1', central_delta: '0.000001', central_rho: '200' }),
    '100',
  );
});
