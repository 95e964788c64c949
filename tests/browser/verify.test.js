import assert from 'node:assert/strict';
import { test } from 'node:test';
import { channelOf, prepare } from '../../surveys/intake/static/intake/channels.js';
import { verify as verifyClear } from '../../surveys/intake/static/intake/cleartext.js';
import { verify as verifyDrawn } from '../../surveys/intake/static/intake/drawn.js';
import { MAXIMUM_TOTAL, verify } from '../../surveys/intake/static/intake/verify.js';
import { EVERY_KIND, soundPlan, vectors } from './cases.js';

await prepare({ questions: EVERY_KIND });
const lossOf = (channel) => channelOf({ channel }).lossOf(channel);

for (const { name, channel, loss } of vectors('losses'))
  test(`it finds the loss that Python finds: ${name}`, () =>
    assert.deepEqual(lossOf(channel), loss.map(BigInt)));

for (const { name, plan, accepted, why } of vectors('plans'))
  test(`it ${accepted ? 'accepts' : 'refuses'} what the server does: ${name}`, () => {
    if (accepted) assert.ok(verify(plan, verifyClear, verifyDrawn).questions.length > 0);
    else assert.throws(() => verify(plan, verifyClear, verifyDrawn), Error, why);
  });

test('a bit of one_of loses what its keep says, whatever else the channel holds', () => {
  const channel = /** @type {any} */ ({
    kind: 'one_of',
    options: 5,
    keep: 3 * 2 ** 30,
    choices: 1000,
    size: 999,
  });
  assert.deepEqual(lossOf(channel), [3n, 1n]);
});

test('vectors hold Plans to accept and Plans to refuse', () => {
  assert.deepEqual(
    new Set(vectors('plans').map(({ accepted }) => accepted)),
    new Set([true, false]),
  );
});

test('a sound Plan gives back what was declared and found', () => {
  const { questions, declared, found } = verify(soundPlan());
  assert.deepEqual(
    questions.map(({ name }) => name),
    ['q1', 'q2'],
  );
  assert.deepEqual(questions[0].found, [3n, 1n]);
  assert.deepEqual(declared, [9n, 1n]);
  assert.ok(found[0] <= declared[0] * found[1]);
});

test('a loss may be declared larger than it is', () => {
  const plan = soundPlan();
  plan.questions[0].loss = ['30', '7'];
  plan.loss = [90, 7];
  assert.ok(verify(plan));
});

test('a cap and a publication may be equal, to the ninth decimal and with zeros before', () => {
  const plan = soundPlan();
  plan.caps.central_epsilon = '020.0';
  plan.publication.epsilon = '20.000000000';
  plan.questions[0].name = 'a'.repeat(20);
  assert.ok(verify(plan));
});

const subset = (change) => (plan) => Object.assign(plan.questions[1].channel, change);
const weights = (rows) => (plan) => (plan.questions[0].channel.weights = rows);
const first = (change) => (plan) => Object.assign(plan.questions[0], change);
const wide = (count, channel) =>
  first({ kind: 'single', choices: [...Array(count).keys()].map(String), channel });

/** What is broken, how, and what the message must name. */
const REFUSED = [
  [
    'a question that declares less than it loses',
    first({ loss: [299, 100] }),
    /^q1: expected loss of at most 299\/100, got 3\/1$/,
  ],
  [
    'a total that declares less than it loses',
    (plan) => (plan.loss = [8, 1]),
    /^all together: expected loss of at most 8\/1/,
  ],
  [
    'a total above the maximum',
    (plan) => (plan.loss = [Number(MAXIMUM_TOTAL[0]) + 1, Number(MAXIMUM_TOTAL[1])]),
    /^all together: expected loss of at most 2980957987042\/1000000000/,
  ],
  [
    'rows of different sums',
    weights([
      [3, 1],
      [1, 2],
    ]),
    /^q1: expected rows of one sum/,
  ],
  [
    'rows of different lengths',
    weights([
      [3, 1],
      [1, 2, 1],
    ]),
    /^q1: expected 2 weights in each row/,
  ],
  [
    'rows that sum above 2³²',
    weights([
      [3 * 2 ** 30, 2 ** 30 + 1],
      [2 ** 30 + 1, 3 * 2 ** 30],
    ]),
    /^q1: expected rows of one sum, at most 2³²/,
  ],
  [
    'a zero beside a positive weight',
    weights([
      [4, 0],
      [1, 3],
    ]),
    /^q1: expected weights from 1 to 2³², got 0/,
  ],
  [
    'a report that never comes',
    weights([
      [3, 1, 0],
      [1, 3, 0],
    ]),
    /^q1: expected 2 weights in each row, got 3/,
  ],
  [
    'a report that comes from no answer',
    weights([
      [4, 0],
      [4, 0],
    ]),
    /^q1: expected weights from 1/,
  ],
  [
    'a weight below zero',
    weights([
      [5, -1],
      [1, 3],
    ]),
    /^q1: expected weights from 1/,
  ],
  [
    'a weight that is not whole',
    weights([
      [2.5, 1.5],
      [1.5, 2.5],
    ]),
    /^q1: expected weights from 1/,
  ],
  [
    'a weight in a string',
    weights([
      ['3', 1],
      [1, 3],
    ]),
    /^q1: expected weights from 1/,
  ],
  ['fewer rows than choices', weights([[3, 1]]), /^q1: expected 2 rows, at most 64, got 1/],
  ['rows without a weight', weights([[], []]), /^q1: expected 2 weights in each row, got 0/],
  [
    'a report that stands for no choice',
    weights([
      [1, 2, 3],
      [3, 2, 1],
    ]),
    /^q1: expected 2 weights in each row, got 3/,
  ],
  [
    'rows that tell nothing',
    weights([
      [2, 2],
      [2, 2],
    ]),
    /^q1: expected a channel that favours the truth, got 1\/1/,
  ],
  [
    'a report that stands for several answers',
    wide(3, {
      kind: 'table',
      weights: [
        [4, 1, 1],
        [1, 4, 1],
        [2, 1, 3],
      ],
    }),
    /^q1: expected each report alike after other answers/,
  ],
  ['no weights', weights(undefined), /^q1: expected 2 rows/],
  ['a size of nothing', subset({ size: 0 }), /^q2: expected size from 1 to 4, got 0/],
  ['a size of everything', subset({ size: 5 }), /^q2: expected size from 1 to 4, got 5/],
  ['a keep that always tells', subset({ keep: 2 ** 32 }), /^q2: expected keep from 1/],
  [
    'a keep that favours a lie',
    subset({ keep: 2 ** 29 }),
    /^q2: expected a channel that favours the truth/,
  ],
  ['a channel for other choices', subset({ choices: 6 }), /^q2: expected 5 choices/],
  [
    'a channel of no known kind',
    first({ channel: { kind: 'plain' } }),
    /^q1: expected a channel of table,.*, got plain/,
  ],
  [
    'no channel',
    first({ channel: undefined }),
    /^q1: expected a channel of table,.*, got undefined/,
  ],
  [
    'another protection',
    first({ protection: 'none' }),
    /^q1: expected no parts but .* got channel$/,
  ],
  [
    'an answer sent as given where the page has no words for it',
    ({ questions: [first] }) => {
      first.protection = 'publication';
      delete first.channel;
      delete first.loss;
    },
    /^q1: expected protection device, got publication/,
  ],
  ['a kind that is not known', first({ kind: 'text' }), /^q1: expected a known kind/],
  [
    'yes or no with a third answer',
    first({ choices: ['No', 'Yes', 'Maybe'] }),
    /^q1: expected two choices/,
  ],
  ['a single choice', first({ kind: 'single', choices: ['Yes'] }), /^q1: expected two choices/],
  ['a decline that is not 0 or 1', first({ decline: 2 }), /^q1: expected decline/],
  [
    'an answer that is only a refusal to answer',
    first({ kind: 'single', choices: ['Yes', 'Prefer not to say'], decline: 1 }),
    /^q1: expected two choices/,
  ],
  ['choices alike', first({ choices: ['Yes', 'Yes'] }), /^q1: expected choices that differ/],
  ['an empty choice', first({ choices: ['', 'Yes'] }), /^q1: expected choices that differ/],
  ['a choice that is no text', first({ choices: [0, 1] }), /^q1: expected choices that differ/],
  ['choices in one text', first({ choices: 'ab' }), /^q1: expected choices that differ/],
  [
    'a table of more than 4096 cells',
    wide(65, { kind: 'table', weights: Array(65).fill(Array(65).fill(1)) }),
    /^q1: expected 65 rows, at most 64/,
  ],
  [
    'a subset of more than 1024 choices',
    wide(1025, { kind: 'subset', choices: 1025, size: 1, keep: 2 ** 31 }),
    /^q1: expected 1025 choices, at most 1024/,
  ],
  ...['', 'Q1', '1q', 'a-b', '__proto__', 'q1\n', 'a'.repeat(21), null, ['q1']].map((name) => [
    `the name ${JSON.stringify(name)}`,
    first({ name }),
    /^a question: expected a name/,
  ]),
  ...[undefined, 1, null, '', '.5', '1.', '-1', '1e0', ' 1', '1.0000000001'].map((text) => [
    `a cap of ${JSON.stringify(text)}`,
    (plan) => (plan.caps.central_epsilon = text),
    /^plan: expected an ε in decimals/,
  ]),
  [
    'a cap above 20',
    (plan) => (plan.caps.central_epsilon = '20.000000001'),
    /^plan: expected 0 < ε of publication ≤ cap ≤ 20, got .*"20.000000001"/,
  ],
  [
    'a publication above the cap',
    (plan) => (plan.publication.epsilon = '2.000000001'),
    /^plan: expected 0 < ε of publication/,
  ],
  [
    'a publication at no cost',
    (plan) => (plan.publication.epsilon = '0.0'),
    /^plan: expected 0 < ε of publication/,
  ],
  ['no caps', (plan) => delete plan.caps, /^caps: expected an object with parts, got undefined/],
  [
    'no publication',
    (plan) => delete plan.publication,
    /^publication: expected an object with parts, got undefined/,
  ],
  ...[0, -1, 1.5, '30', 2 ** 53, undefined].map((least) => [
    `a smallest batch of ${JSON.stringify(least)}`,
    (plan) => (plan.publication.smallest_batch = least),
    /^plan: expected a smallest batch/,
  ]),
  [
    'a name twice',
    (plan) => (plan.questions[1].name = 'q1'),
    /^plan: expected each question named once/,
  ],
  ['no questions', (plan) => (plan.questions = []), /^plan: expected questions/],
  ['another format', (plan) => (plan.format = 2), /^plan: expected format 1, got 2/],
  ['a loss over zero', first({ loss: [3, 0] }), /^q1: expected a declared loss/],
  ['a loss below zero on both sides', first({ loss: [-3, -1] }), /^q1: expected a declared loss/],
  ['a loss that no double holds', first({ loss: [2 ** 60, 1] }), /^q1: expected a declared loss/],
  ['a loss in a float', first({ loss: [3.5, 1] }), /^q1: expected a declared loss/],
  ['a loss in hex', first({ loss: ['0x10', 1] }), /^q1: expected a declared loss/],
  ['no loss', first({ loss: undefined }), /^q1: expected a declared loss/],
];

for (const [what, breakIt, message] of REFUSED)
  test(`it refuses ${what}`, () => {
    const plan = soundPlan();
    breakIt(plan);
    assert.throws(() => verify(plan), { message });
  });

for (const nothing of [null, undefined, 7, [], {}])
  test(`it refuses ${JSON.stringify(nothing)} in place of a Plan`, () =>
    assert.throws(() => verify(nothing), Error));

test('without the words for it, nothing is asked that would be sent as given', () => {
  const { plan } = vectors('plans').find(({ name }) => name === 'some questions sent as given');
  assert.throws(() => verify(plan), /^Error: choice: expected protection device, got publication$/);
});

test('what is sent as given adds nothing to what the others lose together, and is not said to lose nothing', () => {
  const { plan } = vectors('plans').find(({ name }) => name === 'some questions sent as given');
  const { found, questions } = verify(plan, verifyClear);
  assert.deepEqual(found, verify({ ...plan, questions: plan.questions.slice(0, 3) }).found);
  assert.deepEqual(questions.slice(3), [
    { name: 'choice', declared: [1n, 1n], found: [1n, 1n], number: 4 },
    { name: 'hours', declared: [1n, 1n], found: [1n, 1n], number: 5 },
  ]);
});

test('more questions than a phone can check are refused before the arithmetic', () => {
  const plan = soundPlan();
  const [first] = plan.questions;
  plan.questions = Array.from({ length: 20_000 }, (_, i) => ({ ...first, name: `q${i}` }));
  assert.throws(() => verify(plan), /plan: expected at most 100 questions, got 20000/);
});

test('what was verified cannot change before it is drawn from', () => {
  const plan = soundPlan();
  verify(plan);
  assert.throws(() => (plan.questions[0].channel.weights[0][0] = 1), TypeError);
  assert.throws(() => (plan.questions[0].channel.keep = 1), TypeError);
});
