import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerTo } from '../../surveys/intake/static/intake/blocks.js';
import { complete, isAsked, standIn } from '../../surveys/intake/static/intake/branches.js';
import { verify as verifyClear } from '../../surveys/intake/static/intake/cleartext.js';
import { asked, verify as verifyDrawn } from '../../surveys/intake/static/intake/drawn.js';
import { minutesBetween } from '../../surveys/intake/static/intake/moments.js';
import { guessShare } from '../../surveys/intake/static/intake/odds.js';
import { composeReport } from '../../surveys/intake/static/intake/report.js';
import { draw, importKey } from '../../surveys/intake/static/intake/waves.js';
import { verify } from '../../surveys/intake/static/intake/verify.js';
import { vectors } from './cases.js';

const sound = (called = 'a joint answer beside') =>
  structuredClone(vectors('plans').find(({ name }) => name.startsWith(called)).plan);
const key = () => importKey(new Uint8Array(32).fill(5));
const answers = new Map([
  ['q1', 1],
  ['q2', 0],
  ['q3', 4],
  ['q4', 1],
]);

async function drawn(plan = sound()) {
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

/** All of its blocks are asked, and the joint one is declined as one. */
function declining() {
  const plan = sound('a joint answer that is declined as one');
  plan.drawn = [{ blocks: [0, 1], weight: 1 }];
  plan.loss = [2000, 1];
  return plan;
}

test('where declining is one of all, it is the last of the combinations and skips the questions after it', async () => {
  const { plan } = await drawn(declining());
  const [joint] = plan.sent;
  assert.equal(joint.choices.length, 31);
  assert.equal(joint.choices[30], 'Prefer not to say');
  assert.equal(joint.choices[joint.example], 'Yes · a · a');
  assert.ok(joint.choices.slice(0, 30).every((choice) => !/not to|Rather/.test(choice)));
  const ways = [
    [{ q1: 2 }, [true, false, false, true], 30],
    [{ q1: 0 }, [true, false, true, true], 2 * 5 + 4],
    [{ q1: 1, q2: 2 }, [true, true, false, true], 30],
    [{ q1: 1, q2: 0, q3: 5 }, [true, true, true, true], 30],
    [{ q1: 1, q2: 0, q3: 3 }, [true, true, true, true], 15 + 3],
  ];
  for (const [given, asked, cell] of ways) {
    const said = new Map(Object.entries({ q3: 4, q4: 1, ...given }));
    assert.deepEqual(
      plan.questions.map((_, index) => isAsked(plan, index, said)),
      asked,
      JSON.stringify(given),
    );
    const all = complete(plan, said);
    assert.equal(answerTo(joint, all), cell, JSON.stringify(given));
    const { answers: sent } = await composeReport(plan, 'd'.repeat(64), all, await key());
    assert.deepEqual(sent.b1, await draw(await key(), joint, cell));
  }
  assert.equal(standIn(plan, 2, new Map([['q1', 2]])), 5); // declined too
  assert.equal(standIn(plan, 1, new Map([['q1', 0]])), 3); // “Not asked”
});

test('who goes back and does not decline is asked all again, and what was chosen is still there', async () => {
  const { plan } = await drawn(declining());
  const said = new Map(Object.entries({ q1: 1, q2: 1, q3: 4 }));
  said.set('q1', 2);
  assert.equal(isAsked(plan, 2, said), false);
  said.set('q1', 1);
  assert.equal(isAsked(plan, 2, said), true);
  assert.equal(answerTo(plan.sent[0], said), 15 + 5 + 4);
});

test('where somebody can skip questions, messages leave at set times', async () => {
  assert.ok(minutesBetween(declining()) > 0);
  const { questions, ...plan } = declining();
  const asked = questions.map(({ asked_if, ...question }) => question);
  assert.ok(minutesBetween({ ...plan, questions: asked }) > 0);
  delete plan.blocks[0].decline;
  assert.equal(minutesBetween({ ...plan, questions: asked }), 0);
});
