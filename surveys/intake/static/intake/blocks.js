/** Drawn questions, and joint answers. Twin of dpengine/local/blocks.py and joint.py, where the proofs are. */
import { below, systemWords } from './words.js';

/**
 * Return which set this device asks, by the whole weights of all sets: no answer is looked at.
 * @param {readonly number[]} weights Each 1 to 2²⁰, at most 100.
 * @param {Words} [words]
 */
export function draw(weights, words = systemWords) {
  let left = below(
    weights.reduce((a, b) => a + b, 0),
    words,
  );
  return weights.findIndex((weight) => (left -= weight) < 0);
}

/**
 * Return the true answer to what is sent: to a question, or the cell of the answers to some that are sent as one.
 * @param {Question} question
 * @param {Answers} answers
 */
export function answerTo({ name, together, decline }, answers) {
  if (!together) return answers.get(name);
  const own = together.map((each) => /** @type {number} */ (answers.get(each.name)));
  if (own.includes(/** @type {any} */ (undefined))) return undefined;
  return encode(
    own,
    together.map(({ choices }) => choices.length),
    decline ? together.map(declinedOf) : [],
  );
}

/** Return which choice of a question declines, if one does. @param {Question} question */
export const declinedOf = ({ choices, skipped }) => choices.length - 1 - (skipped ?? 0);

/**
 * Return the joint answer's cell, in mixed radix: the first question's answer is the most significant digit. Who declines
 * one question declines all, which is the last cell.
 * @param {readonly number[]} answers Indices of the true choices: never stored, sent, or shown in an error.
 * @param {readonly number[]} choices How many each question has.
 * @param {readonly number[]} [declining] Where declining stands among them, if it is one of all questions.
 */
export function encode(answers, choices, declining = []) {
  if (
    answers.length !== choices.length ||
    !answers.every((answer, i) => Number.isInteger(answer) && answer >= 0 && answer < choices[i])
  )
    throw new RangeError(`"answers" expected one of the choices of ${choices.length} questions`);
  const sizes = choices.map((count, i) => count - Number(i in declining));
  if (answers.some((answer, i) => answer === declining[i])) return sizes.reduce((a, b) => a * b, 1);
  return answers.reduce(
    (cell, answer, i) => cell * sizes[i] + answer - Number(answer > declining[i]),
    0,
  );
}
