/** Answers in the clear: what a Plan needs that has some. Fetched before question one, and only for such a Plan. */
import { expect, isInteger, verifyChoices } from './expect.js';

const GREATEST = 2 ** 31;
const MOST_CHOICES = 256;
const GREATEST_EPSILON = 20; // beyond it a guess is as good as sure

/** What is not changed must not lie on this device: the message waits in this page's memory only. */
export const outside = { storage: null };

const WIDEST = 11; // "-2147483648"

/**
 * Return the spaces that make messages equally long whatever was answered: whoever watches the line sees a length.
 * @param {Pick<Plan, 'questions'>} plan
 * @param {Answers} answers
 */
export function padding({ questions }, answers) {
  const digits = questions
    .filter(({ channel }) => !channel)
    .map(({ name }) => String(answers.get(name)).length);
  return ' '.repeat(digits.reduce((left, used) => left - used, WIDEST * digits.length));
}

/**
 * Return how often a guess is right at most, from all publications, by somebody who knows every other answer: between two
 * answers, as likely as each other before. (e^ε + δ)/(e^ε + 1), proved at dpengine/accounting/beliefs.py, guess_within.
 *
 * Where there is a δ, ρ is what the cap is kept by: then Pinsker's ½ + √(ρ/2)/2, and half of the δ/2 beside it, hold too, and
 * are less, if ρ is what ε and δ make it. Whatever a Plan says, the larger of the two is told. Where publications protect
 * whether somebody took part, another answer is one person less and one more: 2ε, δ + e^ε·δ and 4ρ. Where they protect one
 * answer and not a person, it is told of all that are sent as given together: so many times ε. Where each wave has a cap of its
 * own, the same can be asked in each: it is told of all that are planned, so many times ε, δ and ρ.
 * @param {Plan} plan Verified.
 */
export function readersShare({
  caps: { central_epsilon, central_delta = '0', central_rho = '0' },
  neighbours,
  questions,
  unit,
  waves = 1,
}) {
  const given = (/** @type {Question} */ { protection }) => protection === 'publication';
  const answers = unit === 'answer-in-study' ? questions.filter(given).length : 1;
  const caps = unit === 'respondent-in-wave' ? waves : 1;
  const one = Math.exp(Math.min(caps * answers * Number(central_epsilon), GREATEST_EPSILON));
  const twice = neighbours === 'add-remove';
  const loss = twice ? one ** 2 : one;
  const delta = caps * Number(central_delta) * (twice ? 1 + one : 1);
  const rho = caps * Number(central_rho) * (twice ? 4 : 1);
  return Math.min(
    1,
    Math.max((loss + delta) / (loss + 1), (1 + Math.sqrt(rho / 2) + delta / 2) / 2),
  );
}

/** Check a question that is sent in the clear: it declares no loss, for it gives its answer away. @param {Question} question */
export function verify(question) {
  const { name, kind, choices, decline, least, most, unit } = question;
  if (kind === 'number') {
    expect(decline === 0 && Array.isArray(choices) && !choices.length, name, 'no choices', choices);
    expect(typeof unit === 'string', name, 'a unit in words', unit);
    const bounds = [least, most];
    expect(
      bounds.every((bound) => isInteger(bound, -GREATEST, GREATEST)) &&
        Number(least) < Number(most),
      name,
      `bounds within ${GREATEST}`,
      bounds,
    );
  } else {
    verifyChoices(question);
    expect(choices.length <= MOST_CHOICES, name, `at most ${MOST_CHOICES} choices`, choices.length);
  }
  return { name, declared: NOTHING, found: NOTHING };
}

/** @type {Ratio} */
const NOTHING = [1n, 1n];
