/** One door to every kind of channel. Twin of dpengine/local/channels.py. */
import { randomise as randomiseSubset } from './subset.js';
import { randomise as randomiseTable } from './table.js';
import { systemWords } from './words.js';

/**
 * Return what to send in place of the true answer.
 * @param {number} answer Index of the true choice: never stored, sent, or shown in an error.
 * @param {Channel} channel
 * @param {Words} [words]
 * @returns {number | number[]}
 */
export function randomise(answer, channel, words = systemWords) {
  switch (channel.kind) {
    case 'table':
      return randomiseTable(answer, channel, words);
    case 'subset':
      return randomiseSubset(answer, channel, words);
    default:
      throw new TypeError(`"kind" expected table or subset, got ${/** @type {any} */ (channel).kind}`);
  }
}
