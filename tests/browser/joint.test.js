import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verify as verifyClear } from '../../surveys/intake/static/intake/cleartext.js';
import { asked, verify as verifyDrawn } from '../../surveys/intake/static/intake/drawn.js';
import { guessShare } from '../../surveys/intake/static/intake/odds.js';
import { composeReport } from '../../surveys/intake/static/intake/report.js';
import { draw, importKey } from '../../surveys/intake/static/intake/waves.js';
import { verify } from '../../surveys/intake/static/intake/verify.js';
import { vectors } from './cases.js';

const sound = () =>
  structuredClone(
    vectors('plans').find(({ name }) => name.startsWith('a joint answer beside')).plan,
  );
const key = () => importKey(new Uint8Array(32).fill(5));
const answers = new Map([
  ['q1', 1],
  ['q2', 0],
  ['q3', 4],
  ['q4', 1],
]);

async function drawn() {
  const plan = sound();
  return asked(plan, verify(plan, verifyClear, verifyDrawn), null);
}

test('questions that are sent as one are one question with all combinations', async () => {
  const { plan } = await drawn();
  const [joint, other] = plan.sent;
  assert.equal(plan.sent.length, 2);
  assert.equal(other.name, 'q4');
  assert.equal(joint.name, 'b1');
  assert.equal(joint.choices.length, 30);
  assert.equal(joint.choices[1 * 15 + 0 * 5 + 4], 'choice 1 · a · choice 4');
  assert.deepEqual(plan.questions[1].numbers, ['1', '2', '3']);
  assert.ok(!('numbers' in joint)); // or a question more before them would make a draw of its own
  assert.equal(joint.choices[joint.example], 'choice 1 · a · choice 0');
  assert.deepEqual(
    plan.questions.map(({ sentAs }) => sentAs?.name),
    ['b1', 'b1', 'b1', undefined],
  );
});

test('they are drawn once, from the cell of all answers, and one value is sent', async () => {
  const { plan } = await drawn();
  const { answers: sent } = await composeReport(plan, 'd'.repeat(64), answers, await key());
  assert.deepEqual(Object.keys(sent), ['b1', 'q4']);
  assert.deepEqual(sent.b1, await draw(await key(), plan.sent[0], 19));
  assert.equal(sent.b1.length, plan.sent[0].channel.size);
});

test('a true answer that is missing is not sent as another, and stands in no error', async () => {
  const { plan } = await drawn();
  const without = new Map([...answers].filter(([name]) => name !== 'q2'));
  await assert.rejects(composeReport(plan, 'd'.repeat(64), without, await key()), {
    message: 'b1: expected an answer, got none',
  });
});

test('a joint answer loses once, and each of its questions as much as all', async () => {
  const { plan, checked } = await drawn();
  const [first, second, third, fourth] = checked.questions.map(({ found }) => found);
  assert.deepEqual(first, second);
  assert.deepEqual(first, third);
  assert.deepEqual(fourth, [3n, 1n]);
  const [top, bottom] = checked.found;
  assert.equal(top * first[1], 3n * first[0] * bottom);
  const loss = Number(first[0]) / Number(first[1]);
  const [joint] = plan.sent;
  assert.ok(Math.abs(guessShare(joint) - loss / (loss + 1)) < 1e-12); // of two choices, knowing the others
});
