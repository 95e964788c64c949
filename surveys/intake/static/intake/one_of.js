/** Some of many options. Twin of dpengine/local/one_of.py, where the formulas are. */
import { expect, isInteger, reduce } from './expect.js';
import { below, systemWords, WORD } from './words.js';

/** @type {Learns} */
export const learns = 'ticks';
export const parts = 'keep kind options together';

/** @param {Question & { channel: OneOf }} question */
export function verify({ name, choices: { length }, channel }) {
  const { options, keep, together = 1 } = channel;
  expect(options === length && length <= 1024, name, `${length} options, at most 1024`, options);
  const most = Math.min(10, length, Math.floor(Math.log2(2 ** 16 / length))); // two bytes hold a report
  expect(isInteger(together, 1, most), name, `together from 1 to ${most}`, together);
  const least = WORD / patternsOf(channel) + 1;
  expect(isInteger(keep, least, WORD - 1), name, `keep from ${least} to 2³² − 1`, keep);
}

/** Return in how many ways the options of one report can be ticked. @param {OneOf} channel */
const patternsOf = ({ together = 1 }) => 2 ** together;

/** Return e^ε, exactly. @param {OneOf} channel */
export const lossOf = (channel) =>
  reduce(BigInt(channel.keep) * BigInt(patternsOf(channel) - 1), BigInt(WORD - channel.keep));

/**
 * Return the first option drawn, and what to send in place of its tick and those of the next ones.
 * @param {readonly number[]} answer Ticked options, in rising order: never stored, sent, or shown in an error.
 * @param {OneOf} channel
 * @param {Words} [words]
 * @returns {number[]}
 */
export function randomise(answer, channel, words = systemWords) {
  const { options, keep } = channel;
  if (!isAnswer(answer, options))
    throw new RangeError(`"answer" expected different options below ${options}, in rising order`);
  const first = below(options, words);
  const kept = words() < keep;
  const own = patternOf(answer, channel, first);
  if (kept) return [first, own];
  const other = below(patternsOf(channel) - 1, words);
  return [first, other + Number(other >= own)];
}

/** @param {unknown} answer @param {number} options */
const isAnswer = (answer, options) =>
  Array.isArray(answer) &&
  answer.every(
    (option, i) => Number.isInteger(option) && option > (answer[i - 1] ?? -1) && option < options,
  );

/** Return the options that a report is about. @param {OneOf} channel @param {number} first */
const about = ({ options, together = 1 }, first) =>
  [...Array(together).keys()].map((place) => (first + place) % options);

/** @param {readonly number[]} answer @param {OneOf} channel @param {number} first */
const patternOf = (answer, channel, first) =>
  about(channel, first).reduce((sum, option) => 2 * sum + Number(answer.includes(option)), 0);

/** Return the options that a report is about, and whether it says that each is ticked. @param {OneOf} channel @param {number[]} value @returns {[number, boolean][]} */
export const saidOf = (channel, [first, pattern]) =>
  about(channel, first).map((option, place, { length }) => [
    option,
    ((pattern >> (length - 1 - place)) & 1) === 1,
  ]);

/** @param {OneOf} channel @returns {Telling} */
export const tellingOf = ({ together = 1 }) => (together > 1 ? 'some-of' : 'one-of');

/** Return the chance that what is sent of the options drawn is true. @param {OneOf} channel */
export const shareOf = ({ keep }) => keep / WORD;

/** @param {OneOf} channel @param {Answer} answer @param {number[]} value */
export const holds = (channel, answer, [first, pattern]) =>
  patternOf([answer].flat(), channel, first) === pattern;

/** @param {OneOf} channel */
export const luckOf = (channel) => 1 / patternsOf(channel);
