/** A table of weights. Twin of dpengine/local/table.py, where the formulas are. */
import { expect, isInteger, isList, reduce } from './expect.js';
import { below, systemWords, WORD } from './words.js';

/** @type {Learns} */
export const learns = 'shares';
export const parts = 'kind weights';

/** @param {Question & { channel: Table }} question */
export function verify({ name, choices, channel: { weights } }) {
  verifyRows(name, weights, choices.length, choices.length);
  const alike = weights.every((row, own) =>
    row.every((weight, i) => i === own || weight === weights[+!i][i]),
  );
  expect(alike, name, 'each report alike after other answers', weights);
}

/** Return what every row adds up to. @param {string} name @param {number[][]} weights @param {number} rows @param {number} columns */
export function verifyRows(name, weights, rows, columns) {
  expect(
    isList(weights) && weights.length === rows && rows > 1 && rows <= 64,
    name,
    `${rows} rows, at most 64`,
    weights?.length,
  );
  const sums = weights.map((row) => {
    expect(
      isList(row) && row.length === columns,
      name,
      `${columns} weights in each row`,
      row?.length,
    );
    for (const weight of row)
      expect(isInteger(weight, 1, WORD), name, 'weights from 1 to 2³²', weight);
    return sum(row);
  });
  for (const total of sums)
    expect(total <= WORD && total === sums[0], name, 'rows of one sum, at most 2³²', sums);
  return sums[0];
}

/** Return e^ε, exactly. @param {{ weights: number[][] }} channel @returns {Ratio} */
export function lossOf({ weights }) {
  /** @type {Ratio} */
  let worst = [1n, 1n];
  for (const column of columns(weights)) {
    const [most, least] = [Math.max(...column), Math.min(...column)].map(BigInt);
    if (most * worst[1] > worst[0] * least) worst = [most, least];
  }
  return reduce(...worst);
}

/**
 * Return the report to send in place of the true answer.
 * @param {number} answer Index of the true choice: never stored, sent, or shown in an error.
 * @param {{ weights: number[][] }} channel
 * @param {Words} [words]
 */
export function randomise(answer, { weights }, words = systemWords) {
  if (!Number.isInteger(answer) || answer < 0 || answer >= weights.length)
    throw new RangeError(`"answer" expected one of ${weights.length} choices`);
  const row = weights[answer];
  const drawn = below(sum(row), words);
  let reached = 0;
  return row.findIndex((weight) => drawn < (reached += weight));
}

/** @param {Table} channel @returns {Telling} */
export function tellingOf({ weights }) {
  const [own, other] = weights[0];
  const even = weights.every((row, answer) =>
    row.every((weight, report) => weight === (report === answer ? own : other)),
  );
  if (weights.length === 2) return even ? 'flip' : 'flip-uneven';
  return even ? 'spread' : 'uneven';
}

/** @param {Table} channel @param {number} answer */
export const shareOf = ({ weights }, answer) => weights[answer][answer] / sum(weights[answer]);

/** @param {Table} _channel @param {number} answer @param {Value} value */
export const holds = (_channel, answer, value) => value === answer;

/** @param {Table} channel */
export const luckOf = ({ weights }) => 1 / weights.length;

/** @param {number[][]} weights */
export const columns = (weights) =>
  weights[0].map((_, report) => weights.map((row) => row[report]));

/** @param {number[]} numbers */
export const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
