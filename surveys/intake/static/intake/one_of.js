/** One of many options. Twin of dpengine/local/one_of.py, where the formulas are. */
import { expect, isInteger, reduce } from './expect.js';
import { below, systemWords, WORD } from './words.js';

/** @type {Learns} */
export const learns = 'ticks';
export const parts = 'keep kind options';

/** @param {Question & { channel: OneOf }} question */
export function verify({ name, choices: { length }, channel: { options, keep } }) {
  expect(options === length && length <= 1024, name, `${length} options, at most 1024`, options);
  expect(isInteger(keep, WORD / 2 + 1, WORD - 1), name, 'keep from 2³¹ + 1 to 2³² − 1', keep);
}

/** Return e^ε, exactly: that of the bit. @param {OneOf} channel */
export const lossOf = ({ keep }) => reduce(BigInt(keep), BigInt(WORD - keep));

/**
 * Return the option drawn, and what to send in place of its bit.
 * @param {readonly number[]} answer Ticked options, in rising order: never stored, sent, or shown in an error.
 * @param {OneOf} channel
 * @param {Words} [words]
 * @returns {number[]}
 */
export function randomise(answer, { options, keep }, words = systemWords) {
  if (!isAnswer(answer, options))
    throw new RangeError(`"answer" expected different options below ${options}, in rising order`);
  const option = below(options, words);
  const kept = words() < keep;
  return [option, Number(answer.includes(option) === kept)];
}

/** @param {unknown} answer @param {number} options */
const isAnswer = (answer, options) =>
  Array.isArray(answer) &&
  answer.every(
    (option, i) => Number.isInteger(option) && option > (answer[i - 1] ?? -1) && option < options,
  );

/** @returns {Telling} */
export const tellingOf = () => 'one-of';

/** Return the chance that the bit of an option is the true one. @param {OneOf} channel */
export const shareOf = ({ keep }) => keep / WORD;

/** @param {OneOf} _channel @param {Answer} answer @param {number[]} value */
export const holds = (_channel, answer, [option, bit]) =>
  [answer].flat().includes(option) === (bit === 1);

export const luckOf = () => 1 / 2;
export const blindOf = luckOf;
export const guessOf = shareOf;
