/** The registry of channels: what a kind is stands in its own module. Twin of dpengine/local/channels.py. */
import * as subset from './subset.js';
import * as table from './table.js';

/** What only some Plans need. @type {Record<string, () => Promise<ChannelModule>>} */
const RARE = {
  distribution: () => import('./distribution.js'),
  number: () => import('./number.js'),
  one_of: () => import('./one_of.js'),
};

/** @type {Map<unknown, ChannelModule>} */
const known = new Map(Object.entries({ table, subset }));

/** How a number is spread is drawn by a table too. @param {Asked} question */
const nameOf = ({ channel, wanted }) => (wanted === 'distribution' ? wanted : channel?.kind);

/** Fetch what a Plan needs, before it is verified. @param {{ questions: Asked[] }} plan */
export async function prepare({ questions }) {
  for (const name of questions.map(nameOf))
    if (name && Object.hasOwn(RARE, name) && !known.has(name)) known.set(name, await RARE[name]());
}

/** Return what a question's channel is. @param {Asked} question */
export function channelOf(question) {
  const found = known.get(nameOf(question));
  if (!found)
    throw new TypeError(
      `${question.name}: expected a channel of ${[...known.keys()]}, got ${nameOf(question)}`,
    );
  return found;
}

/**
 * Return what of a true answer its channel takes: of a number whose spread is wanted, the bin that holds it.
 * @param {Question} question
 * @param {Answer} answer Index of a choice, ticked options, or whole steps from the least number.
 */
export const inputOf = (question, answer) =>
  channelOf(question).inputOf?.(question, answer) ?? answer;

/**
 * Return what to send in place of the true answer.
 * @param {Asked} question
 * @param {Answer} input What `inputOf` returns.
 * @param {Words} [words]
 */
export const randomise = (question, input, words) =>
  channelOf(question).randomise(input, question.channel, words);
