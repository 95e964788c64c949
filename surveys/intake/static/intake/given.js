/** What a Plan of which something is sent as given needs beside the rest. Fetched before question one, and only for such a Plan. */
import { expect, isInteger, verifyChoices } from './verify.js';

const GREATEST = 2 ** 31;
const MOST_CHOICES = 256;

/** What is not changed must not lie on this device: the message waits in this page's memory only. */
export const outside = { storage: null };

const WIDEST = 11; // "-2147483648"

/**
 * Return the spaces that make messages equally long whatever was answered: whoever watches the line sees a length.
 * @param {Pick<Plan, 'questions'>} plan
 * @param {Answers} answers
 */
export function padding({ questions }, answers) {
  const digits = questions.filter(({ channel }) => !channel).map(({ name }) => String(answers.get(name)).length);
  return ' '.repeat(digits.reduce((left, used) => left - used, WIDEST * digits.length));
}

/** Check a question that is sent as given: it declares no loss, for it gives its answer away. @param {Question} question */
export function verifyGiven(question) {
  const { name, kind, choices, decline, least, most, unit } = question;
  if (kind === 'number') {
    expect(decline === 0 && Array.isArray(choices) && !choices.length, name, 'no choices', choices);
    expect(typeof unit === 'string', name, 'a unit in words', unit);
    const bounds = [least, most];
    expect(bounds.every((bound) => isInteger(bound, -GREATEST, GREATEST)) && Number(least) < Number(most), name, `bounds within ${GREATEST}`, bounds);
  } else {
    verifyChoices(question);
    expect(choices.length <= MOST_CHOICES, name, `at most ${MOST_CHOICES} choices`, choices.length);
  }
  return { name, declared: NOTHING, found: NOTHING };
}

/** @type {Ratio} */
const NOTHING = [1n, 1n];
