/** Shared cases: the vectors that Python and JS both obey, replayed words, and a small sound Plan. */
import { readdirSync, readFileSync } from 'node:fs';

export { replay } from './replay.js';

/** Return the vectors of one file. An absent or empty file is a failure, not a test that passes. */
export function vectors(name) {
  const cases = JSON.parse(
    readFileSync(new URL(`../vectors/${name}.json`, import.meta.url), 'utf8'),
  );
  if (!Array.isArray(cases) || cases.length === 0)
    throw new Error(`${name}.json: expected cases, got none`);
  return cases;
}

/** Return the draws of every channel whose answers are choices or ticks, whatever file they are in. */
export const draws = () =>
  readdirSync(new URL('../vectors', import.meta.url))
    .filter((name) => name.endsWith('.json') && name !== 'number.json')
    .flatMap((name) => vectors(name.slice(0, -'.json'.length)))
    .filter(({ channel, words }) => channel && words);

const coin = {
  kind: 'table',
  weights: [
    [3, 1],
    [1, 3],
  ],
};
const five = { kind: 'subset', choices: 5, size: 1, keep: 1717986919 };

/** Return a Plan of two questions that verify accepts: fresh, so that a test may break it. */
export function soundPlan() {
  const shared = { protection: 'device', text: 'Asked?', label: 'Asked', help: '', decline: 0 };
  return structuredClone({
    format: 1,
    questions: [
      {
        ...shared,
        name: 'q1',
        kind: 'yes_no',
        choices: ['No', 'Yes'],
        channel: coin,
        loss: [3, 1],
      },
      {
        ...shared,
        name: 'q2',
        kind: 'likert',
        choices: ['a', 'b', 'c', 'd', 'e'],
        channel: five,
        loss: [3, 1],
      },
    ],
    loss: [9, 1],
    caps: { central_epsilon: '2' },
    publication: { epsilon: '1', rule: 'when-closed', smallest_batch: 30 },
  });
}

/** Questions that need every channel: what `prepare` fetches for them is enough for any Plan. */
export const EVERY_KIND = [
  { channel: { kind: 'one_of' } },
  { channel: { kind: 'number' } },
  { channel: { kind: 'table' }, wanted: 'distribution' },
];

/** A localStorage for Node. */
export class FakeStorage {
  getItem(key) {
    return Object.hasOwn(this, key) ? this[key] : null;
  }
  setItem(key, value) {
    this[key] = value;
  }
  removeItem(key) {
    delete this[key];
  }
}
