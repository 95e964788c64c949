/** One door to every kind of channel. Twin of dpengine/local/channels.py. */
import * as subset from './subset.js';
import * as table from './table.js';

/** @type {Record<string, { randomise(answer: any, channel: any, words?: Words): Value }>} */
const kinds = { table, subset };

/** Fetch what only some Plans need, before question one. @param {{ questions: { channel?: AnyChannel }[] }} plan */
export async function prepare({ questions }) {
  if (questions.some(({ channel }) => channel?.kind === 'one_of')) kinds.one_of = await import('./one_of.js');
  if (questions.some(({ channel }) => channel?.kind === 'number')) kinds.number = await import('./number.js');
}

/**
 * Return what of a true answer its channel takes: of a number whose spread is wanted, the bin that holds it.
 * @param {Question} question
 * @param {number | number[]} answer Index of a choice, ticked options, or whole steps from the least number.
 */
export function inputOf({ wanted, bins, least, most }, answer) {
  if (wanted !== 'distribution') return answer;
  return Math.floor((Number(answer) * Number(bins)) / (Number(most) - Number(least) + 1));
}

/**
 * Return what to send in place of the true answer.
 * @param {number | number[]} answer What `inputOf` returns: an index, steps, or for one_of all that are ticked.
 * @param {AnyChannel} channel
 * @param {Words} [words]
 */
export function randomise(answer, channel, words) {
  const twin = kinds[channel.kind];
  if (!twin?.randomise) throw new TypeError(`"kind" expected one of ${Object.keys(kinds)}, got ${channel.kind}`);
  return twin.randomise(answer, channel, words);
}
