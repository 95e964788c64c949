/** A number: rounded by chance to its table's grid, then a report drawn. Twin of dpengine/local/number.py. */
import { divisor, expect, isInteger, isList, matches } from './expect.js';
import { randomise as randomiseTable, sum, verifyRows } from './table.js';
import { below, systemWords } from './words.js';

/** @type {Learns} */
export const learns = 'mean';
export const parts = 'decoder grid kind scale weights';

/** Each report must be worth, on average and exactly, the point of the grid that it was drawn for. @param {Question & { channel: NumberChannel }} question */
export function verify({ name, least, most, channel }) {
  const steps = Number(most) - Number(least);
  const { grid, weights, decoder, scale } = channel;
  const rises =
    isList(grid) && grid.every((point, i) => isInteger(point, i ? grid[i - 1] + 1 : 0, steps));
  expect(
    rises && grid[0] === 0 && grid[grid.length - 1] === steps,
    name,
    `a grid from 0 to ${steps}`,
    grid,
  );
  expect(
    isList(decoder) && decoder.length > 1 && grid.length * decoder.length <= 4096,
    name,
    'a worth of each report',
    decoder?.length,
  );
  const total = verifyRows(name, weights, grid.length, decoder.length);
  const [worth, unit] = [decoder.map((number) => readWhole(number, name)), readWhole(scale, name)];
  expect(unit > 0n, name, 'a scale above 0', unit);
  weights.forEach((row, place) => {
    const mean = row.reduce((sum, weight, report) => sum + BigInt(weight) * worth[report], 0n);
    expect(
      mean === unit * BigInt(total) * BigInt(grid[place]),
      name,
      'a decoder that is right on average',
      grid[place],
    );
  });
  // from the middle: small whole numbers, or no interval could be found
  const apart = worth.map((number) => 2n * number - unit * BigInt(steps));
  const common = apart.reduce(divisor);
  expect(
    apart.every((number) => number ** 2n <= (1024n * common) ** 2n),
    name,
    'reports worth small numbers',
    decoder,
  );
}

/** @param {unknown} number @param {string} name */
function readWhole(number, name) {
  const good = Number.isSafeInteger(number) || matches(number, /^-?[1-9]\d{0,999}$/);
  expect(good, name, 'whole numbers', number);
  return BigInt(/** @type {string} */ (number));
}

export { lossOf } from './table.js';

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
  return randomiseTable(place + Number(up), { weights }, words);
}

/** @returns {Telling} */
export const tellingOf = () => 'ends';

/** Return the chance that the mark points high. @param {NumberChannel} channel @param {number} steps */
export function shareOf(channel, steps) {
  const { grid, weights } = channel;
  const place = Math.max(
    0,
    Math.min(grid.length - 2, grid.filter((point) => point <= steps).length - 1),
  );
  const up = (steps - grid[place]) / (grid[place + 1] - grid[place]);
  const [below, above] = [weights[place], weights[place + 1]].map((row) =>
    shareAmong(row, highMarks(channel)),
  );
  return below + up * (above - below);
}

/** @param {NumberChannel} channel @param {number} _steps @param {Value} value */
export const holds = (channel, _steps, value) => highMarks(channel).includes(Number(value));

/** Return the marks that the greatest number makes likelier than the least one does. @param {NumberChannel} channel */
function highMarks({ weights }) {
  const [low, high] = [weights[0], weights[weights.length - 1]];
  return [...high.keys()].filter((mark) => high[mark] > low[mark]);
}

/** @param {number[]} row @param {number[]} marks */
export const shareAmong = (row, marks) => sum(marks.map((mark) => row[mark])) / sum(row);

export const luckOf = () => 1 / 2;

/** Return how many different marks a number can be sent as. @param {{ weights: number[][] }} channel */
export const marksOf = ({ weights }) => weights[0].length;
