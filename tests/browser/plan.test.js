import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestOf, fetchPlan, linkedDigest } from '../../surveys/intake/static/intake/plan.js';
import { soundPlan } from './cases.js';

const TEXT = JSON.stringify(soundPlan());
const DIGEST = await digestOf(new TextEncoder().encode(TEXT));
const serve =
  (body, status = 200) =>
  async () =>
    new Response(body, { status });

test('the digest is SHA-256 in hex', async () => {
  assert.equal(
    await digestOf(new TextEncoder().encode('abc')),
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  );
});

test('it takes the Plan that the link names', async () => {
  const { plan, digest } = await fetchPlan('s', DIGEST, serve(TEXT));
  assert.equal(digest, DIGEST);
  assert.deepEqual(plan, soundPlan());
});

test('without a fingerprint it takes what is served, and says which', async () => {
  assert.equal((await fetchPlan('s', '', serve(TEXT))).digest, DIGEST);
});

test('one byte more is another Plan', async () => {
  await assert.rejects(fetchPlan('s', DIGEST, serve(`${TEXT} `)), { reason: 'fingerprint' });
});

test('a fingerprint cut short matches nothing', async () => {
  await assert.rejects(fetchPlan('s', DIGEST.slice(0, 63), serve(TEXT)), { reason: 'fingerprint' });
});

for (const [status, reason] of [
  [404, 'missing'],
  [503, 'unreachable'],
  [500, 'unreachable'],
])
  test(`status ${status} is told as ${reason}`, () =>
    assert.rejects(fetchPlan('s', '', serve('', status)), { reason }));

test('no connection is told as unreachable', () =>
  assert.rejects(
    fetchPlan('s', '', () => Promise.reject(new TypeError())),
    { reason: 'unreachable' },
  ));

test('bytes that are no JSON are refused', () =>
  assert.rejects(fetchPlan('s', '', serve('<html>')), SyntaxError));

test('it asks without credentials and without saying from where', async () => {
  let asked;
  await fetchPlan('a b', '', async (url, how) => ((asked = { url, ...how }), new Response(TEXT)));
  assert.deepEqual(asked, {
    url: '/api/v1/studies/a%20b/plan',
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
    redirect: 'error',
  });
});

test('a fingerprint is read from the fragment, in either case', () => {
  assert.equal(linkedDigest('#AB12'), 'ab12');
  assert.equal(linkedDigest(''), '');
});
