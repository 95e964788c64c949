/** One door to every kind of channel. Twin of dpengine/local/channels.py. */
import * as subset from './subset.js';
import * as table from './table.js';

/** @type {Record<string, { randomise(answer: any, channel: any, words?: Words): Value }>} */
const kinds = { table, subset };

/** Fetch what only some Plans need, before question one. @param {{ questions: { channel?: AnyChannel }[] }} plan */
export async function prepare({ questions }) {
  if (questions.some(({ channel }) => channel?.kind === 'one_of')) kinds.one_of = await import('./one_of.js');
}

/**
 * Return what to send in place of the true answer.
 * @param {number | number[]} answer Index of the true choice; for one_of, of all that are ticked.
 * @param {AnyChannel} channel
 * @param {Words} [words]
 */
export function randomise(answer, channel, words) {
  const twin = kinds[channel.kind];
  if (!twin?.randomise) throw new TypeError(`"kind" expected one of ${Object.keys(kinds)}, got ${channel.kind}`);
  return twin.randomise(answer, channel, words);
}
