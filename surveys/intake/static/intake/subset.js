/** Subset selection. Twin of dpengine/local/subset.py, where the formulas are. */
import { expect, isInteger, reduce } from './expect.js';
import { sample, systemWords, WORD } from './words.js';

/** @type {Learns} */
export const learns = 'shares';
export const parts = 'choices keep kind size';

/** @param {Question & { channel: Subset }} question */
export function verify({ name, choices: { length }, channel: { choices, size, keep } }) {
  expect(choices === length && length <= 1024, name, `${length} choices, at most 1024`, choices);
  expect(isInteger(size, 1, choices - 1), name, `size from 1 to ${choices - 1}`, size);
  expect(isInteger(keep, 1, WORD - 1), name, 'keep from 1 to 2³² − 1', keep);
}

/** Return e^ε, exactly. @param {Subset} channel */
export const lossOf = ({ choices, size, keep }) =>
  reduce(BigInt(keep) * BigInt(choices - size), BigInt(WORD - keep) * BigInt(size));

/**
 * Return the choices to send in place of the true one, in order.
 * @param {number} answer Index of the true choice: never stored, sent, or shown in an error.
 * @param {Subset} channel
 * @param {Words} [words]
 * @returns {number[]}
 */
export function randomise(answer, { choices, size, keep }, words = systemWords) {
  if (!Number.isInteger(answer) || answer < 0 || answer >= choices)
    throw new RangeError(`"answer" expected one of ${choices} choices`);
  const kept = words() < keep;
  const others = [...Array(choices).keys()].filter((choice) => choice !== answer);
  const drawn = sample(others, size - Number(kept), words);
  return [...(kept ? [answer] : []), ...drawn].sort((a, b) => a - b);
}

/** @param {Subset} channel @returns {Telling} */
export const tellingOf = ({ choices, size }) =>
  size > 1 ? 'several' : choices === 2 ? 'flip' : 'spread';

/** @param {Subset} channel */
export const shareOf = ({ keep }) => keep / WORD;

/** @param {Subset} _channel @param {number} answer @param {number[]} value */
export const holds = (_channel, answer, value) => value.includes(answer);

/** @param {Subset} channel */
export const luckOf = ({ choices, size }) => size / choices;
