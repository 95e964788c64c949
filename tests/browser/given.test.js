import assert from 'node:assert/strict';
import { test } from 'node:test';
import { padding } from '../../surveys/intake/static/intake/given.js';
import { composeReport } from '../../surveys/intake/static/intake/report.js';

const QUESTIONS = [
  { name: 'earned', kind: 'number', protection: 'publication', choices: [], least: -(2 ** 31), most: 2 ** 31 },
  { name: 'region', kind: 'single', protection: 'publication', choices: Array.from({ length: 256 }, (_, i) => `${i}`) },
];

test('a message is equally long whatever was answered, for whoever watches the line sees its length', async () => {
  const plan = /** @type {any} */ ({ questions: QUESTIONS });
  const lengths = new Set();
  for (const earned of [0, -0, 7, -7, 918273645, 2 ** 31, -(2 ** 31)])
    for (const region of [0, 9, 10, 255]) {
      const answers = new Map([['earned', earned], ['region', region]]);
      const report = await composeReport(plan, 'd'.repeat(64), answers, /** @type {any} */ (undefined)); // nothing is drawn
      const body = JSON.stringify(report) + padding(plan, answers);
      assert.deepEqual(JSON.parse(body), JSON.parse(JSON.stringify(report)));
      lengths.add(body.length);
    }
  assert.equal(lengths.size, 1);
});
