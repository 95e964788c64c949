/** How a number is spread, bin by bin: a square wave on a ring. Twin of dpengine/local/distribution.py. */
import { expect, isInteger } from './expect.js';
import { shareAmong } from './number.js';
import { verifyRows } from './table.js';

/** @type {Learns} */
export const learns = 'distribution';

/** Each row must be the one before it, moved by one. @param {Question & { channel: Table }} question */
export function verify({ name, least, most, bins, channel: { kind, weights } }) {
  expect(kind === 'table', name, 'a channel for what is wanted', kind);
  const numbers = Number(most) - Number(least) + 1;
  expect(isInteger(bins, 2, Math.min(64, numbers)), name, 'bins that hold a number or more', bins);
  const places = Number(bins);
  verifyRows(name, weights, places, places);
  const moved = weights.every((row, bin) =>
    row.every((weight, report) => weight === weights[0][(report - bin + places) % places]),
  );
  expect(moved, name, 'each row the one before it, moved by one', weights);
}

/** Return the bin that holds an answer. @param {Question} question @param {Answer} answer Whole steps from the least number. */
export const inputOf = ({ bins, least, most }, answer) =>
  Math.floor((Number(answer) * Number(bins)) / (Number(most) - Number(least) + 1));

export { lossOf, parts, randomise } from './table.js';
export { marksOf } from './number.js';

/** @returns {Telling} */
export const tellingOf = () => 'near';

/** Return the chance that the mark goes with the answer. @param {Table} channel @param {number} bin */
export const shareOf = ({ weights }, bin) => shareAmong(weights[bin], nearMarks(weights[bin]));

/** @param {Table} channel @param {number} bin @param {Value} value */
export const holds = ({ weights }, bin, value) => nearMarks(weights[bin]).includes(Number(value));

/** @param {Table} channel */
export const luckOf = ({ weights }) =>
  nearMarks(weights[weights.length >> 1]).length / weights[0].length;

/** Return the marks that an answer makes likelier than halfway between its likeliest and its least likely. @param {number[]} row */
const nearMarks = (row) =>
  [...row.keys()].filter((mark) => 2 * row[mark] > Math.max(...row) + Math.min(...row));
