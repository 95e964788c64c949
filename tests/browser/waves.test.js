import assert from 'node:assert/strict';
import { test } from 'node:test';
import { draw, importKey, keyFor } from '../../surveys/intake/static/intake/waves.js';
import { soundPlan, vectors } from './cases.js';
import { failures } from './replay.js';

const key = (first) => importKey(Uint8Array.from({ length: 32 }, (_, i) => first + i));
const [coin, five] = soundPlan().questions;
const wide = { ...five, channel: { kind: 'subset', choices: 1024, size: 400, keep: 2 ** 31 } };

/** Return how often two draws agree, over many keys. */
async function agreements(one, other, keys = 400) {
  let agreed = 0;
  for (let i = 0; i < keys; i++) {
    const raw = crypto.getRandomValues(new Uint8Array(32));
    const [a, b] = await Promise.all([one(await importKey(raw)), other(await importKey(raw))]);
    agreed += Number(String(a) === String(b));
  }
  return agreed;
}

test('all vectors of draws by a key', async () => {
  const cases = vectors('waves');
  assert.equal(cases.length, 200);
  assert.deepEqual(await failures(cases), []);
});

test('an answer that did not change is sent as before, in every wave', async () => {
  const report = await draw(await key(1), coin, 1);
  for (let wave = 0; wave < 20; wave++)
    assert.equal(await draw(await key(1), structuredClone(coin), 1), report);
  assert.equal(
    await agreements(
      (k) => draw(k, five, 3),
      (k) => draw(k, five, 3),
      50,
    ),
    50,
  );
});

test('the order in which a Plan spells its channel does not matter', async () => {
  const { kind, weights } = coin.channel;
  assert.equal(
    await agreements(
      (k) => draw(k, coin, 1),
      (k) => draw(k, { ...coin, channel: { weights, kind } }, 1),
      50,
    ),
    50,
  );
});

// Of two independent coins at 3 : 1, answers alike agree with chance 5/8, answers that differ with 3/8: of 400, 250 and 150
// on average, and within 5 standard deviations (9.7) but for one in two million.
const near = (count, expected) =>
  assert.ok(Math.abs(count - expected) < 49, `${count}, expected about ${expected}`);

test('another answer is thrown anew', async () =>
  near(
    await agreements(
      (k) => draw(k, coin, 1),
      (k) => draw(k, coin, 0),
    ),
    150,
  ));

test('a changed channel is thrown anew', async () => {
  const doubled = {
    ...coin,
    channel: {
      kind: 'table',
      weights: [
        [6, 2],
        [2, 6],
      ],
    },
  }; // the same odds, another channel
  near(
    await agreements(
      (k) => draw(k, coin, 1),
      (k) => draw(k, doubled, 1),
    ),
    250,
  );
});

test('another question is thrown anew', async () =>
  near(
    await agreements(
      (k) => draw(k, coin, 1),
      (k) => draw(k, { ...coin, name: 'other' }, 1),
    ),
    250,
  ));

// Else who knows the first answer learns from a report that differs what the second is, with certainty.
const other = {
  text: 'Another question?',
  choices: ['Yes', 'No'],
  help: 'Answer about another thing.',
  label: 'Another',
  kind: 'single',
  decline: 1,
};
for (const [part, value] of Object.entries(other))
  test(`a question with another ${part} is thrown anew`, async () => {
    near(
      await agreements(
        (k) => draw(k, coin, 1),
        (k) => draw(k, { ...coin, [part]: value }, 1),
      ),
      250,
    );
  });

test('another key throws anew', async () => {
  let agreed = 0;
  const fresh = () => importKey(crypto.getRandomValues(new Uint8Array(32)));
  for (let i = 0; i < 400; i++)
    agreed += Number((await draw(await fresh(), coin, 1)) === (await draw(await fresh(), coin, 1)));
  near(agreed, 250);
});

test('draws by keys keep the channel’s odds', async () => {
  let kept = 0;
  for (let i = 0; i < 1600; i++)
    kept += await draw(await importKey(crypto.getRandomValues(new Uint8Array(32))), coin, 1);
  assert.ok(Math.abs(kept - 1200) < 87, `${kept} of 1600, expected about 1200`); // 5 standard deviations
});

test('a draw that needs many words gets them', async () => {
  const report = await draw(await key(7), wide, 1000);
  assert.equal(new Set(report).size, 400);
});

test('the key cannot be read by any script', async () => {
  const made = await key(1);
  assert.equal(made.extractable, false);
  await assert.rejects(crypto.subtle.exportKey('raw', made));
});

test('a mistake in a draw is not taken for a lack of words', async () => {
  await assert.rejects(
    draw(await key(1), { ...coin, channel: { kind: 'unknown' } }, 1),
    /expected a channel of/,
  );
});

/** A device's database, of what this script uses of one; `writes` counts what is put into it. */
function database() {
  const stores = new Map();
  const kept = { writes: 0, opened: 0 };
  const request = (result) => {
    const made = { result };
    queueMicrotask(() => made.onsuccess?.());
    return made;
  };
  const open = () => {
    kept.opened += 1;
    const keys = { get: (slug) => request(stores.get(slug)) };
    keys.add = (key, slug) => ((kept.writes += 1), stores.set(slug, key));
    const transaction = () => {
      const made = { objectStore: () => keys };
      setTimeout(() => made.oncomplete?.());
      return made;
    };
    return request({ transaction, close() {} });
  };
  globalThis.indexedDB = { open };
  return kept;
}

const planned = { slug: 'a', wave: 1, waves: 2 };

test('a key stays only where the Plan says so, and serves the last wave without being made for it', async () => {
  const kept = database();
  const first = await keyFor({ ...planned, draws: 'kept' });
  assert.deepEqual([first.before, first.kept, kept.writes], [false, true, 1]);
  const last = await keyFor({ ...planned, wave: 2, draws: 'kept' });
  assert.deepEqual([last.before, last.key === first.key, kept.writes], [true, true, 1]);
  const late = await keyFor({ ...planned, slug: 'b', wave: 2, draws: 'kept' });
  assert.deepEqual([late.before, late.kept, kept.writes], [false, false, 1]);
});

test('where draws are fresh no key is looked for, used or kept', async () => {
  const kept = database();
  const old = await keyFor({ ...planned, draws: 'kept' });
  const [before, writes] = [kept.opened, kept.writes];
  const [one, other] = [
    await keyFor({ ...planned, draws: 'fresh' }),
    await keyFor({ ...planned, draws: 'fresh' }),
  ];
  assert.equal(new Set([old.key, one.key, other.key]).size, 3);
  assert.deepEqual([one.before, one.kept], [false, false]);
  assert.deepEqual([kept.opened, kept.writes], [before, writes]);
});

test('by an older Plan a key that was kept serves on, and no new one stays', async () => {
  const kept = database();
  const old = await keyFor({ ...planned, draws: 'kept' });
  const again = await keyFor({ slug: 'a', wave: 2 });
  assert.deepEqual([again.before, again.key === old.key], [true, true]);
  const anew = await keyFor({ slug: 'b', wave: 1 });
  assert.deepEqual([anew.before, anew.kept, kept.writes], [false, false, 1]);
});
