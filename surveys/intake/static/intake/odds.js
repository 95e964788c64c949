/** A channel's odds, for people: worked out from its integers, never from an ε that someone typed. */
import { WORD } from './words.js';

/** @param {Channel} channel @returns {Telling} */
export function tellingOf(channel) {
  if (channel.kind === 'subset') return channel.size > 1 ? 'several' : channel.choices === 2 ? 'flip' : 'spread';
  const { weights } = channel;
  const [own, other] = [weights[0][0], weights[0][1]];
  const even = weights.every((row, answer) => row.every((weight, report) => weight === (report === answer ? own : other)));
  if (weights.length === 2) return even ? 'flip' : 'flip-uneven';
  return even ? 'spread' : 'uneven';
}

/** Return the chance that an answer is sent as it was given (or, of several sent, is among them). @param {Channel} channel @param {number} answer */
export function ownShare(channel, answer) {
  if (channel.kind === 'subset') return channel.keep / WORD;
  return channel.weights[answer][answer] / sum(channel.weights[answer]);
}

/** Return that chance if the report had nothing to do with the answer. @param {Channel} channel */
export function luckShare(channel) {
  return channel.kind === 'subset' ? channel.size / channel.choices : 1 / channel.weights.length;
}

/** Return how often the best guess is right, for someone who knew nothing and reads the report. @param {Channel} channel */
export function guessShare(channel) {
  if (channel.kind === 'table')
    return Math.max(...channel.weights[0].map((_, report) => bestOf(channel.weights.map((row) => row[report]))));
  const { choices, size, keep } = channel;
  const loss = (keep * (choices - size)) / ((WORD - keep) * size);
  return loss / (size * loss + choices - size);
}

/** Return how often a blind guess is right. @param {Channel} channel */
export const blindShare = (channel) => 1 / (channel.kind === 'table' ? channel.weights.length : channel.choices);

/** Return the larger chance: that a report holds the answer, or of the best guess. @param {Channel} channel */
export function strength(channel) {
  const rows = channel.kind === 'table' ? channel.weights : [0];
  return Math.max(guessShare(channel), ...rows.map((_, answer) => ownShare(channel, answer)));
}

/** Return a share for display; never as 1 or 99 what is beyond them. @param {number} share */
export const told = (share) => (share > 0.995 ? '>99' : share < 0.005 ? '<1' : ofHundred(share));

/** Return a share as people of 100; 0 and 100 only where it is exactly that. @param {number} share */
export function ofHundred(share) {
  const rounded = Math.round(share * 100);
  if (share > 0 && share < 1) return Math.min(99, Math.max(1, rounded));
  return rounded;
}

/** Choices in the order shown: Yes before No. @param {Question} question */
export function shownOrder({ kind, choices }) {
  const order = [...choices.keys()];
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
