/** One of many options. Twin of dpengine/local/one_of.py, where the formulas are. */
import { below, systemWords } from './words.js';

/**
 * Return the option drawn, and what to send in place of its bit.
 * @param {readonly number[]} answer Ticked options, in rising order: never stored, sent, or shown in an error.
 * @param {OneOf} channel
 * @param {Words} [words]
 * @returns {number[]}
 */
export function randomise(answer, { options, keep }, words = systemWords) {
  if (!isAnswer(answer, options)) throw new RangeError(`"answer" expected different options below ${options}, in rising order`);
  const option = below(options, words);
  const kept = words() < keep;
  return [option, Number(answer.includes(option) === kept)];
}

/** @param {unknown} answer @param {number} options */
const isAnswer = (answer, options) =>
  Array.isArray(answer) && answer.every((option, i) => Number.isInteger(option) && option > (answer[i - 1] ?? -1) && option < options);
