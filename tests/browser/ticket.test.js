import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  base64,
  blind,
  finalize,
  messageOf,
  prepare,
  unbase64,
  verify,
} from '../../surveys/intake/static/intake/ticket.js';
import { vectors } from './cases.js';
import { hex, newKeys, oursForThePeer, signed, thePeersForUs, unhex } from './peer.js';

const DIGEST = 'ab'.repeat(32);
const EACH = 20; // tests.bench.tickets crosses 1,000 each way
const keys = await newKeys();
const number = (digits) => BigInt(`0x${digits}`);

/** Return x with a·x = 1 modulo n. */
function inverted(a, n) {
  let [r, s, x, y] = [n, a % n, 0n, 1n];
  while (s) [r, s, x, y] = [s, r % s, y, x - (r / s) * y];
  return ((x % n) + n) % n;
}

for (const given of vectors('tickets')) {
  const { n, prepared_msg, salt, inv, blinded_msg, blind_sig, sig } = given;
  const message = unhex(prepared_msg);

  test(`it blinds as RFC 9474 says: ${given.name}`, async () => {
    const found = await blind(n, message, unhex(salt), inverted(number(inv), number(n)));
    assert.deepEqual(found, { factor: inv, blinded: blinded_msg });
  });

  test(`it takes the blinding off as RFC 9474 says: ${given.name}`, async () => {
    assert.equal(await finalize(n, message, inv, blind_sig), sig);
    assert.ok(await verify(n, message, sig));
  });
}

test('a message is 32 bytes of chance, the words and the digest of the Plan', () => {
  const message = messageOf('01'.repeat(32), DIGEST);
  assert.equal(hex(message), '01'.repeat(32) + hex(Buffer.from('candor ticket')) + DIGEST);
});

test('tickets of our client, signed by the peer, are tickets for the peer', async () => {
  assert.ok(await oursForThePeer(keys, DIGEST, true));
  for (let at = 0; at < EACH; at += 1) assert.ok(await oursForThePeer(keys, DIGEST));
});

test('tickets of the peer’s client are tickets for us', async () => {
  for (let at = 0; at < EACH; at += 1) assert.ok(await thePeersForUs(keys, DIGEST));
});

test('a longer key is as good for the peer', async () => {
  const long = await newKeys(3072);
  assert.ok(await oursForThePeer(long, DIGEST));
});

test('what is posted has the length of the modulus, and is another one each time', async () => {
  const all = await Promise.all([...Array(EACH)].map(() => prepare(keys.key, DIGEST)));
  for (const { prefix, factor, blinded } of all)
    assert.deepEqual(
      [prefix.length, factor.length, blinded.length],
      [64, keys.key.length, keys.key.length],
    );
  for (const part of ['prefix', 'factor', 'blinded'])
    assert.equal(new Set(all.map((own) => own[part])).size, EACH);
});

test('an answer that is not the signature of what was posted is no ticket', async () => {
  const own = await prepare(keys.key, DIGEST);
  const message = messageOf(own.prefix, DIGEST);
  const right = signed(keys, own.blinded);
  const others = {
    'of another message': signed(keys, (await prepare(keys.key, DIGEST)).blinded),
    'under another key': signed(await newKeys(), own.blinded.replace(/^../, '00')),
    'a digit more': `0${right}`,
    'a byte less': right.slice(2),
    'what was posted': own.blinded,
    nothing: '00'.repeat(right.length / 2),
  };
  for (const [why, answer] of Object.entries(others))
    await assert.rejects(finalize(keys.key, message, own.factor, answer), /^Error: ticket/, why);
  assert.ok(await finalize(keys.key, message, own.factor, right));
});

test('a ticket of another Plan, and one under another key, are none', async () => {
  const own = await prepare(keys.key, DIGEST);
  const message = messageOf(own.prefix, DIGEST);
  const ticket = await finalize(keys.key, message, own.factor, signed(keys, own.blinded));
  assert.ok(await verify(keys.key, message, ticket));
  assert.ok(!(await verify(keys.key, messageOf(own.prefix, 'ac'.repeat(32)), ticket)));
  assert.ok(!(await verify((await newKeys()).key, message, ticket)));
});

test('a factor without an inverse is refused', async () => {
  await assert.rejects(
    blind(keys.key, messageOf('01'.repeat(32), DIGEST), undefined, 0n),
    /expected a number that has an inverse/,
  );
});

test('base64url goes there and back, without padding', () => {
  for (const bytes of ['', '00', 'fbff', 'fbffbf', '00fbff3f3e'])
    assert.equal(unbase64(base64(bytes)), bytes);
  assert.equal(base64('fbffbf'), Buffer.from('fbffbf', 'hex').toString('base64url'));
});
