/**
 * A channel's odds, for people: worked out from its integers, never from an ε that someone typed. What is read of a
 * question goes by its kind, as in verify.js, so that no odds come from a part that was not verified.
 */
import { inputOf } from './channel.js';
import { language } from './page.js';
import { WORD } from './words.js';

/** Tell whether how a number is spread is asked for, bin by bin. @param {Pick<Question, 'wanted'>} question */
export const isSpread = ({ wanted }) => wanted === 'distribution';

/** @param {Pick<Question, 'channel' | 'wanted'>} question Whose channel is verified. @returns {Telling} */
export function tellingOf(question) {
  const { channel } = question;
  if (channel?.kind === 'one_of') return 'one-of';
  if (channel?.kind === 'number') return 'ends';
  if (isSpread(question)) return 'near';
  if (channel?.kind === 'subset') return channel.size > 1 ? 'several' : channel.choices === 2 ? 'flip' : 'spread';
  const { weights } = /** @type {Table} */ (channel);
  const [own, other] = [weights[0][0], weights[0][1]];
  const even = weights.every((row, answer) => row.every((weight, report) => weight === (report === answer ? own : other)));
  if (weights.length === 2) return even ? 'flip' : 'flip-uneven';
  return even ? 'spread' : 'uneven';
}

/**
 * Return the chance that what is sent speaks for the answer: it is the answer, or among several; the bit of an option is
 * the true one; of a number, the mark points high, or goes with it.
 * @param {DeviceQuestion} question @param {Answer} answer
 */
export function shareOf(question, answer) {
  const { channel } = question;
  if (channel.kind === 'number') return highShare(channel, Number(answer));
  const input = Number(inputOf(question, answer));
  if (isSpread(question)) return shareAmong(rowOf(channel, input), nearMarks(rowOf(channel, input)));
  return ownShare(channel, input);
}

/** Tell whether a report speaks so for an answer. @param {DeviceQuestion} question @param {Answer} answer @param {Value} value */
export function holds(question, answer, value) {
  const { channel } = question;
  if (channel.kind === 'number') return highMarks(channel).includes(Number(value));
  if (channel.kind === 'one_of' && Array.isArray(value)) return [answer].flat().includes(value[0]) === (value[1] === 1);
  const input = Number(inputOf(question, answer));
  return isSpread(question) ? nearMarks(rowOf(channel, input)).includes(Number(value)) : [value].flat().includes(input);
}

/** Return how many different marks a number can be sent as. @param {DeviceQuestion} question */
export const marksOf = ({ channel }) => weightsOf(channel)[0]?.length ?? 0;

/** Return the chance that an answer is sent as it was given (or, of several sent, is among them). @param {AnyChannel} channel @param {number} answer */
export function ownShare(channel, answer) {
  if (channel.kind === 'subset' || channel.kind === 'one_of') return channel.keep / WORD;
  return channel.weights[answer][answer] / sum(channel.weights[answer]);
}

/** Return that chance if the report had nothing to do with the answer. @param {DeviceQuestion} question */
export function luckShare(question) {
  const { channel } = question;
  if (channel.kind === 'subset') return channel.size / channel.choices;
  if (channel.kind !== 'table') return 1 / 2;
  const { weights } = channel;
  return isSpread(question) ? nearMarks(weights[weights.length >> 1]).length / weights[0].length : 1 / weights.length;
}

/** Return how often the best guess is right, for someone who knew nothing and reads the report. @param {DeviceQuestion} question */
export function guessShare(question) {
  const { channel } = question;
  if (channel.kind === 'one_of') return channel.keep / WORD;
  if (channel.kind === 'number' || isSpread(question)) return pairShare(weightsOf(channel));
  if (channel.kind === 'table')
    return Math.max(...channel.weights[0].map((_, report) => bestOf(channel.weights.map((row) => row[report]))));
  const { choices, size, keep } = channel;
  const loss = (keep * (choices - size)) / ((WORD - keep) * size);
  return loss / (size * loss + choices - size);
}

/** Return how often a blind guess is right. @param {DeviceQuestion} question */
export function blindShare(question) {
  const { channel } = question;
  if (channel.kind === 'subset') return 1 / channel.choices;
  return channel.kind === 'table' && !isSpread(question) ? 1 / channel.weights.length : 1 / 2;
}

/** Return the larger chance: that a report speaks for the answer, or of the best guess. @param {DeviceQuestion} question */
export function strength(question) {
  const { channel } = question;
  const rows = channel.kind === 'table' && !isSpread(question) ? channel.weights : [];
  const own = channel.kind === 'subset' ? [ownShare(channel, 0)] : rows.map((_, answer) => ownShare(channel, answer));
  return Math.max(guessShare(question), ...own);
}

/** Return how often a guess between the two answers that are told apart best is right. @param {number[][]} weights */
function pairShare(weights) {
  const ratios = weights[0].map((_, report) => weights.map((row) => row[report])).map((column) => Math.max(...column) / Math.min(...column));
  return 1 - 1 / (1 + Math.max(...ratios));
}

/** Return the marks that the greatest number makes likelier than the least one does. @param {NumberChannel} channel */
function highMarks({ weights }) {
  const [low, high] = [weights[0], weights[weights.length - 1]];
  return [...high.keys()].filter((mark) => high[mark] > low[mark]);
}

/** @param {NumberChannel} channel @param {number} steps */
function highShare(channel, steps) {
  const { grid, weights } = channel;
  const place = Math.max(0, Math.min(grid.length - 2, grid.filter((point) => point <= steps).length - 1));
  const up = (steps - grid[place]) / (grid[place + 1] - grid[place]);
  const [below, above] = [weights[place], weights[place + 1]].map((row) => shareAmong(row, highMarks(channel)));
  return below + up * (above - below);
}

/** Return the marks that an answer makes likelier than halfway between its likeliest and its least likely. @param {number[]} row */
const nearMarks = (row) => [...row.keys()].filter((mark) => 2 * row[mark] > Math.max(...row) + Math.min(...row));

/** @param {number[]} row @param {number[]} marks */
const shareAmong = (row, marks) => sum(marks.map((mark) => row[mark])) / sum(row);

/** @param {AnyChannel} channel @param {number} input */
const rowOf = (channel, input) => weightsOf(channel)[input] ?? [];

/** @param {AnyChannel} channel */
const weightsOf = (channel) => (channel.kind === 'table' || channel.kind === 'number' ? channel.weights : []);

const ALMOST = 0.995; // above it, people of 100 would be 100

/** Return a share for display: to the nearest whole of 100, and never as 1 or 99 what is beyond them. @param {number} share */
export const told = (share) => (share > ALMOST ? '>99' : share < 0.005 ? '<1' : ofHundred(share));

/** Return what is left of 100 beside a share that is told. @param {number} share */
export const restOf = (share) => (share > ALMOST ? '<1' : 100 - ofHundred(share));

/** Return a share as people of 100; 0 and 100 only where it is exactly that. @param {number} share */
export function ofHundred(share) {
  const rounded = Math.round(share * 100);
  if (share > 0 && share < 1) return Math.min(99, Math.max(1, rounded));
  return rounded;
}

/**
 * Return an upper bound in people of 100: whatever stands beside “at most” comes from here. Never less than it says: up to
 * the next tenth, so that beside odds it is the same number said closer, 73 and 73.2; or to the hundredth or thousandth
 * where that keeps it below 100. Twin of design/queries.py.
 * @param {number} share
 */
export function atMost(share) {
  const bounds = [10, 100, 1000].map((parts) => Math.ceil(Number((share * 100 * parts).toFixed(8))) / parts);
  const bound = bounds.find((each) => each < 100);
  return bound === undefined ? '>99.9' : new Intl.NumberFormat(language()).format(bound);
}

/** Choices in the order shown: Yes before No; “Not asked” is not for choosing, “Does not apply” is. @param {Question} question */
export function shownOrder({ kind, choices, asked_if }) {
  const order = [...choices.keys()].slice(0, choices.length - (asked_if ? 1 : 0));
  return kind === 'yes_no' ? [1, 0, ...order.slice(2)] : order;
}

/** Return a ratio to six decimals, from its integers. @param {Ratio} ratio */
export function decimal([top, bottom]) {
  const millionths = ((2n * top * 1_000_000n) / bottom + 1n) / 2n;
  const text = String(millionths).padStart(7, '0');
  return `${text.slice(0, -6)}.${text.slice(-6)}`.replace(/\.?0+$/, '');
}

/** Return ε to two decimals. @param {Ratio} ratio */
export const epsilon = ([top, bottom]) => Math.abs(logarithm(top) - logarithm(bottom)).toFixed(2);

/** Return how often a guess between two, even before, is right. @param {Ratio} ratio */
export const togetherShare = ([top, bottom]) => 1 / (1 + Math.exp(logarithm(bottom) - logarithm(top)));

/** @param {bigint} whole */
function logarithm(whole) {
  const digits = String(whole);
  return Math.log(Number(digits.slice(0, 15))) + Math.max(0, digits.length - 15) * Math.LN10;
}

/** @param {number[]} column */
const bestOf = (column) => Math.max(...column) / sum(column);

/** @param {number[]} numbers */
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
