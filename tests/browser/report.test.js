import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  composeReport,
  newReportId,
  receiptOf,
  sendReport,
  waitingReport,
  waitingReports,
} from '../../surveys/intake/static/intake/report.js';
import { draw, importKey } from '../../surveys/intake/static/intake/waves.js';
import { FakeStorage, soundPlan } from './cases.js';

const DIGEST = 'd'.repeat(64);
const body = () => JSON.stringify({ plan: DIGEST, report_id: newReportId(), answers: { q1: 0 } });
const reply =
  (status, value = {}) =>
  async () =>
    new Response(JSON.stringify(value), { status });

const key = () => importKey(new Uint8Array(32).fill(5));
const answers = new Map([
  ['q1', 1],
  ['q2', 4],
]);

test('a report holds the digest, an id and randomised values, and nothing else', async () => {
  const report = await composeReport(soundPlan(), DIGEST, answers, await key());
  assert.deepEqual(Object.keys(report), ['plan', 'report_id', 'answers']);
  assert.deepEqual(Object.keys(report.answers), ['q1', 'q2']);
  assert.match(report.report_id, /^[0-9a-f]{32}$/);
  assert.equal(report.plan, DIGEST);
});

test('a report says what the key makes of each answer, however often it is composed', async () => {
  const plan = soundPlan();
  const drawn = {};
  for (const question of plan.questions)
    drawn[question.name] = await draw(await key(), question, answers.get(question.name));
  for (let i = 0; i < 20; i++)
    assert.deepEqual((await composeReport(plan, DIGEST, answers, await key())).answers, drawn);
});

test('two reports of the same answers have ids of their own', async () => {
  const ids = await Promise.all(
    [1, 2].map(
      async () => (await composeReport(soundPlan(), DIGEST, answers, await key())).report_id,
    ),
  );
  assert.notEqual(ids[0], ids[1]);
});

test('what is sent as given is what was answered', async () => {
  const plan = {
    questions: [...soundPlan().questions, { name: 'q3', kind: 'number', choices: [] }],
  };
  const report = await composeReport(plan, DIGEST, new Map([...answers, ['q3', 41]]), await key());
  assert.equal(report.answers.q3, 41);
});

test('a report without every answer is not made, and the error names the question', async () => {
  await assert.rejects(
    composeReport(soundPlan(), DIGEST, new Map([['q1', 1]]), await key()),
    /^Error: q2: expected an answer, got none$/,
  );
});

test('report ids are 128 bits of chance', () => {
  assert.equal(new Set(Array.from({ length: 1000 }, newReportId)).size, 1000);
});

test('it keeps the body before the first POST', async () => {
  const storage = new FakeStorage();
  const sent = body();
  let kept;
  await sendReport('s', sent, {
    storage,
    post: async () => (
      (kept = waitingReport(DIGEST, storage)),
      new Response('{}', { status: 503 })
    ),
  });
  assert.equal(kept, sent);
});

for (const status of [503, 500, 429, 415, 411, 404, 403])
  test(`after ${status} the message waits, and is resent unchanged`, async () => {
    const storage = new FakeStorage();
    const sent = body();
    assert.equal((await sendReport('s', sent, { storage, post: reply(status) })).state, 'later');
    let again;
    const post = async (url, how) => (
      (again = how.body),
      new Response(JSON.stringify({ receipt: 'R', accepted_on: '2026-05-11' }), { status: 200 })
    );
    const outcome = await sendReport('s', waitingReport(DIGEST, storage), { storage, post });
    assert.equal(again, sent);
    assert.deepEqual(outcome, { state: 'accepted', receipt: 'R', day: '2026-05-11' });
  });

test('a site that is busy says when to come again', async () => {
  const post = async () => new Response('{}', { status: 429, headers: { 'Retry-After': '17' } });
  assert.deepEqual(await sendReport('s', body(), { storage: new FakeStorage(), post }), {
    state: 'later',
    why: 'busy',
    message: '429',
    after: 17_000,
  });
});

test('without a connection the message waits', async () => {
  const storage = new FakeStorage();
  assert.equal(
    (
      await sendReport('s', body(), {
        storage,
        post: () => Promise.reject(new TypeError('failed')),
      })
    ).state,
    'later',
  );
  assert.ok(waitingReport(DIGEST, storage));
});

test('a page that says OK but gives no receipt is not this site', async () => {
  const storage = new FakeStorage();
  assert.equal(
    (
      await sendReport('s', body(), {
        storage,
        post: async () => new Response('<p>Log in to the café</p>'),
      })
    ).state,
    'later',
  );
  assert.ok(waitingReport(DIGEST, storage));
});

for (const [status, state] of [
  [200, 'accepted'],
  [201, 'accepted'],
  [409, 'conflict'],
  [410, 'closed'],
  [422, 'malformed'],
])
  test(`after ${status} it is ${state}, and nothing stays on the device`, async () => {
    const storage = new FakeStorage();
    const outcome = await sendReport('s', body(), {
      storage,
      post: reply(status, { receipt: 'R', accepted_on: '2026-05-11' }),
    });
    assert.equal(outcome.state, state);
    assert.deepEqual(Object.keys(storage), []);
  });

test('two messages of one study wait side by side', async () => {
  const storage = new FakeStorage();
  const [one, two] = [body(), body()];
  for (const sent of [one, two]) await sendReport('s', sent, { storage, post: reply(503) });
  assert.deepEqual(waitingReports(storage).sort(), [one, two].sort());
});

test('a message of another Plan is not found', async () => {
  const storage = new FakeStorage();
  await sendReport('s', body(), { storage, post: reply(503) });
  assert.equal(waitingReport('e'.repeat(64), storage), null);
});

test('it works where storage is full or forbidden', async () => {
  const storage = Object.assign(new FakeStorage(), {
    setItem() {
      throw new Error('full');
    },
  });
  assert.equal(
    (await sendReport('s', body(), { storage, post: reply(201, { receipt: 'R' }) })).state,
    'accepted',
  );
  assert.equal(
    (await sendReport('s', body(), { storage: undefined, post: reply(201, { receipt: 'R' }) }))
      .state,
    'accepted',
  );
});

test('it sends no cookie and no referrer', async () => {
  let asked;
  await sendReport('s', body(), {
    storage: new FakeStorage(),
    post: async (url, how) => ((asked = { url, ...how }), new Response('{}')),
  });
  assert.equal(asked.url, '/api/v1/studies/s/reports');
  assert.deepEqual(
    [asked.credentials, asked.referrerPolicy, asked.redirect, asked.method],
    ['omit', 'no-referrer', 'error', 'POST'],
  );
});

test('a receipt is the first 60 bits of the hash of the id, in Crockford’s letters', async () => {
  // SHA-256 of 32 zeros in ASCII begins 84e0c0eafaa95a3: 10000 10011 10000 01100 00001 11010 11111 01010 10010 10110 10001 1…
  assert.equal(await receiptOf('0'.repeat(32)), expectedReceipt());
});

function expectedReceipt() {
  const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  const bits = BigInt('0x84e0c0eafaa95a34').toString(2).padStart(64, '0').slice(0, 60);
  const text = bits
    .match(/.{5}/g)
    .map((five) => letters[parseInt(five, 2)])
    .join('');
  return [text.slice(0, 4), text.slice(4, 8), text.slice(8)].join('-');
}
