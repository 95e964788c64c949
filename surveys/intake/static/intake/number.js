/** A number: rounded by chance to its table's grid, then a report drawn. Twin of dpengine/local/number.py. */
import { randomise as randomiseTable } from './table.js';
import { below, systemWords } from './words.js';

/**
 * Return the report to send in place of the true answer.
 * @param {number} answer In whole steps from the low end: never stored, sent, or shown in an error.
 * @param {Pick<NumberChannel, 'grid' | 'weights'>} channel
 * @param {Words} [words]
 */
export function randomise(answer, { grid, weights }, words = systemWords) {
  const steps = grid[grid.length - 1];
  if (!Number.isInteger(answer) || answer < 0 || answer > steps)
    throw new RangeError(`"answer" expected a whole number of steps from 0 to ${steps}`);
  const place = grid.filter((point) => point <= answer).length - 1;
  const beyond = answer - grid[place];
  const up = beyond > 0 && below(grid[place + 1] - grid[place], words) < beyond;
  return randomiseTable(place + Number(up), { kind: 'table', weights }, words);
}
