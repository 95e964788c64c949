/** Subset selection. Twin of dpengine/local/subset.py, where the formulas are. */
import { sample, systemWords } from './words.js';

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
