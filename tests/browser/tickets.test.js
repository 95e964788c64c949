import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messageOf, unbase64 } from '../../surveys/intake/static/intake/ticket.js';
import * as tickets from '../../surveys/intake/static/intake/tickets.js';
import { newKeys, signed } from './peer.js';

const DIGEST = 'cd'.repeat(32);
const keys = await newKeys();
const study = {
  digest: DIGEST,
  plan: {
    title: 'Asked',
    invited: { moments: 15, strata: [{ key: keys.key, name: '', people: 30 }] },
  },
};
const letter = (sign) => ({ stratum: 0, code: sign.repeat(22) });

/** An issuer of one person, as the server's: the first message is signed, the same again, another one never. */
class Issuer {
  asked = [];
  signs = null;
  /** Statuses to answer first, instead; 0 loses the answer after it was signed. */
  faults = [];
  field = 'code'; // of an error

  post = async (url, { body }) => {
    const { blinded, code } = JSON.parse(body);
    this.asked.push(JSON.parse(body));
    const fault = this.faults.shift();
    if (!fault && !code.startsWith('x')) this.signs ??= blinded;
    if (fault === 0) throw new TypeError('lost');
    const status = fault ?? (code.startsWith('x') ? 403 : blinded === this.signs ? 200 : 409);
    const said =
      status === 200
        ? { signature: Buffer.from(signed(keys, unbase64(blinded)), 'hex').toString('base64url') }
        : { error: { field: this.field } };
    return { ok: status === 200, status, json: async () => said };
  };
}

/** A device of two tabs and more: one storage, one lock. */
function device(forbidden = false) {
  const kept = new Map();
  let turn = Promise.resolve();
  return {
    kept,
    storage: {
      getItem: (name) => kept.get(name) ?? null,
      setItem(name, text) {
        if (forbidden) throw new Error('full');
        kept.set(name, text);
      },
      removeItem: (name) => kept.delete(name),
    },
    locks: { request: (_, work) => (turn = turn.then(work, work)) },
  };
}

function visit(of = new Issuer(), at = device()) {
  tickets.forget(DIGEST); // what another test kept in its page
  const fetchOnce = (given = letter('a')) =>
    tickets.fetchTicket(study, given, { address: '', post: of.post, ...at });
  return { issuer: of, device: at, fetchOnce, own: () => tickets.keptFor(DIGEST, at.storage) };
}

test('a ticket is fetched, verified and kept; code, factor and what was posted are gone', async () => {
  const { issuer, fetchOnce, own } = visit();
  assert.equal(await fetchOnce(), 'ticket');
  assert.deepEqual(Object.keys(own()).sort(), ['prefix', 'signature', 'stratum', 'title']);
  assert.ok(await tickets.isTicket(study, own()));
  assert.equal(issuer.asked.length, 1);
  assert.deepEqual(Object.keys(issuer.asked[0]).sort(), ['blinded', 'code', 'plan', 'stratum']);
});

test('what is posted stands on the device before', async () => {
  const at = device();
  const of = new Issuer();
  const { post } = of;
  let before;
  of.post = (...all) => ((before = [...at.kept.values()]), post(...all));
  await visit(of, at).fetchOnce();
  assert.deepEqual(Object.keys(JSON.parse(before[0])).sort(), [
    'blinded',
    'code',
    'factor',
    'prefix',
    'stratum',
    'title',
  ]);
});

for (const fault of [0, 500, 503, 429])
  test(`after ${fault || 'a lost answer'} the same bytes are posted again`, async () => {
    const of = new Issuer();
    of.faults = [fault];
    const { fetchOnce } = visit(of);
    assert.equal(await fetchOnce(), fault ? 'busy' : 'offline');
    assert.equal(await fetchOnce(), 'ticket');
    assert.deepEqual(of.asked[0], of.asked[1]);
  });

test('a refusal that is of no code, as behind a proxy that hides https, forgets nothing', async () => {
  const of = new Issuer();
  of.faults = [0, 403];
  of.field = 'Origin';
  const { fetchOnce } = visit(of);
  assert.equal(await fetchOnce(), 'offline'); // signed, and the answer lost
  assert.equal(await fetchOnce(), 'busy');
  assert.equal(await fetchOnce(), 'ticket');
  assert.deepEqual(of.asked[0], of.asked[2]);
});

test('tabs that ask at once post the same bytes, and get one ticket', async () => {
  const { issuer, fetchOnce } = visit();
  const all = await Promise.all([fetchOnce(), fetchOnce(), fetchOnce()]);
  assert.deepEqual(all, ['ticket', 'ticket', 'ticket']);
  assert.equal(issuer.asked.length, 1);
});

test('a reminder goes on with what was asked for by the letter before', async () => {
  const of = new Issuer();
  of.faults = [0];
  const { fetchOnce } = visit(of);
  await fetchOnce(letter('a'));
  assert.equal(await fetchOnce(letter('b')), 'ticket');
  assert.equal(of.asked[1].code, letter('a').code);
});

test('where the letter before is none, the new one is asked with', async () => {
  const { issuer, fetchOnce, own } = visit();
  assert.equal(await fetchOnce(letter('x')), 'unknown');
  assert.equal(own(), null);
  assert.equal(await fetchOnce(letter('b')), 'ticket');
  assert.equal(own()?.blinded, undefined);
  assert.notEqual(issuer.asked[0].blinded, issuer.asked[1].blinded);
});

test('where somebody has fetched, it says so, and nothing stays', async () => {
  const of = new Issuer();
  of.signs = 'another';
  const { fetchOnce, own } = visit(of);
  assert.equal(await fetchOnce(), 'fetched');
  assert.equal(own(), null);
});

test('a closed list says so', async () => {
  const of = new Issuer();
  of.faults = [410];
  assert.equal(await visit(of).fetchOnce(), 'closed');
});

test('a page that is no answer of the issuer’s decides nothing', async () => {
  const of = new Issuer();
  const login = { ok: false, status: 403, json: async () => ({}) };
  of.post = async () => login;
  const { fetchOnce, own } = visit(of);
  assert.equal(await fetchOnce(), 'busy');
  assert.ok(own()?.blinded);
});

test('a signature that is none is no ticket, and what was asked for stays', async () => {
  const of = new Issuer();
  of.post = async () => ({ ok: true, status: 200, json: async () => ({ signature: 'AAAA' }) });
  const { fetchOnce, own } = visit(of);
  assert.equal(await fetchOnce(), 'unsound');
  assert.ok(own()?.blinded);
});

test('where storage is full the ticket is in the page, and it is said', async () => {
  const { fetchOnce, own, device: at } = visit(new Issuer(), device(true));
  assert.equal(await fetchOnce(), 'ticket');
  assert.ok(await tickets.isTicket(study, own()));
  assert.equal(tickets.keep(DIGEST, own(), at.storage), false);
});

test('a ticket that was spoilt, or is of another Plan or stratum, is none', async () => {
  const { fetchOnce, own } = visit();
  await fetchOnce();
  const { signature, prefix } = own();
  for (const change of [
    { stratum: 1 },
    { stratum: undefined },
    { prefix: 'f'.repeat(64) === prefix ? '0'.repeat(64) : 'f'.repeat(64) },
    { prefix: 7 },
    { signature: `${signature.slice(0, -12)}${'A'.repeat(12)}` },
    { signature: '*' },
    { signature: undefined },
  ])
    assert.equal(await tickets.isTicket(study, { ...own(), ...change }), false);
  assert.equal(await tickets.isTicket({ ...study, digest: 'ce'.repeat(32) }, own()), false);
});

test('a report’s id is the first half of the SHA-256 of what its ticket signs', async () => {
  const { fetchOnce, own } = visit();
  await fetchOnce();
  const { report_id, ticket } = await tickets.spent(DIGEST, own());
  const message = messageOf(ticket.prefix, DIGEST);
  const whole = Buffer.from(await crypto.subtle.digest('SHA-256', message)).toString('hex');
  assert.equal(report_id, whole.slice(0, 32));
  assert.deepEqual(Object.keys(ticket), ['prefix', 'signature', 'stratum']);
});

test('a mark says whose codes it is about', async () => {
  const told = async (said) => {
    const post = async () => ({ ok: true, status: 200, json: async () => said });
    return tickets.markOf(DIGEST, 'A'.repeat(22), { address: '', post });
  };
  assert.equal(await told({ fetched: true, alone: false }), 'fetched');
  assert.equal(await told({ fetched: false, alone: false }), 'open');
  assert.equal(await told({ fetched: true, alone: true }), 'own-fetched');
  assert.equal(await told({ fetched: false, alone: true }), 'own-open');
  assert.equal(await told({ fetched: true }), 'fetched'); // an issuer of a version before
});
