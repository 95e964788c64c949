/** A table of weights. Twin of dpengine/local/table.py, where the formulas are. */
import { below, systemWords } from './words.js';

/**
 * Return the report to send in place of the true answer.
 * @param {number} answer Index of the true choice: never stored, sent, or shown in an error.
 * @param {Table} channel
 * @param {Words} [words]
 */
export function randomise(answer, { weights }, words = systemWords) {
  if (!Number.isInteger(answer) || answer < 0 || answer >= weights.length)
    throw new RangeError(`"answer" expected one of ${weights.length} choices`);
  const row = weights[answer];
  const drawn = below(row.reduce((sum, weight) => sum + weight, 0), words);
  let reached = 0;
  return row.findIndex((weight) => drawn < (reached += weight));
}
