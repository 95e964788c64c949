/**
 * A channel's odds, for people: worked out from its integers, never from an ε that someone typed. Each channel's module
 * says what its odds are, beside what it verifies, so that none come from a part that was not verified.
 */
import { channelOf, inputOf } from './channels.js';
import { language } from './page.js';

/** @param {Asked} question Whose channel is verified. */
export const tellingOf = (question) => channelOf(question).tellingOf(question.channel);

/**
 * Return the chance that what is sent speaks for the answer: it is the answer, or among several; the bit of an option is
 * the true one; of a number, the mark points high, or goes with it.
 * @param {DeviceQuestion} question @param {Answer} answer
 */
export const shareOf = (question, answer) =>
  channelOf(question).shareOf(question.channel, inputOf(question, answer));

/** Tell whether a report speaks so for an answer. @param {DeviceQuestion} question @param {Answer} answer @param {Value} value */
export const holds = (question, answer, value) =>
  channelOf(question).holds(question.channel, inputOf(question, answer), value);

/** Return how many different marks a number can be sent as; 0 of choices. @param {DeviceQuestion} question */
export const marksOf = (question) => channelOf(question).marksOf?.(question.channel) ?? 0;

/** Return the chance of speaking for it if the report had nothing to do with the answer. @param {DeviceQuestion} question */
export const luckShare = (question) => channelOf(question).luckOf(question.channel);

/** Return how often a guess between two answers, even before, is right at most, by who reads what is sent. @param {DeviceQuestion} question */
export const guessShare = (question) => togetherShare(channelOf(question).lossOf(question.channel));

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
 * Return an upper bound in people of 100: whatever stands beside “at most” comes from here. Rounded up to a whole one; what
 * would become 100, which bounds nothing, to the tenth, hundredth or thousandth, the first that keeps it below. Twin of
 * surveys/guesses.py; tests/vectors/bounds.json holds both.
 * @param {number} share
 */
export function atMost(share) {
  const bounds = [1, 10, 100, 1000].map(
    (parts) => Math.ceil(Number((share * 100 * parts).toFixed(8))) / parts,
  );
  const bound = bounds.find((each) => each < 100) ?? 100;
  return new Intl.NumberFormat(language()).format(bound);
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

/** Return how many times odds can grow, to three digits, rounded up. @param {Ratio} loss */
export function factor([top, bottom]) {
  const times = Number((top * 1000n + bottom - 1n) / bottom) / 1000;
  const step = 10 ** (Math.floor(Math.log10(times)) - 2);
  const format = new Intl.NumberFormat(language(), { maximumSignificantDigits: 3 });
  return times === Infinity ? '∞' : format.format(Math.ceil(times / step - 1e-9) * step);
}

/** Return how often a guess between two, even before, is right. @param {Ratio} ratio */
export const togetherShare = ([top, bottom]) =>
  1 / (1 + Math.exp(logarithm(bottom) - logarithm(top)));

/** Return what as many waves lose, if chance is thrown anew in each. @param {Ratio} loss @param {number} [waves] @returns {Ratio} */
export const powerOf = ([top, bottom], waves = 1) => [
  top ** BigInt(waves),
  bottom ** BigInt(waves),
];

/** @param {bigint} whole */
function logarithm(whole) {
  const digits = String(whole);
  return Math.log(Number(digits.slice(0, 15))) + Math.max(0, digits.length - 15) * Math.LN10;
}
