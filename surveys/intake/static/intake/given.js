/** The screens of a Plan of which something is sent as given. Fetched before question one, and only for such a Plan. */
import * as screens from './screens.js';
import { fill, find, put } from './screens.js';
import { expect, isInteger, verifyChoices } from './verify.js';

export { exampleOf, showThrow } from './screens.js';

const GREATEST = 2 ** 31;
const MOST_CHOICES = 256;

/** What is not changed must not lie on this device: the message waits in this page's memory only. */
export const outside = { storage: null };

const WIDEST = 11; // "-2147483648"

/**
 * Return the spaces that make messages equally long whatever was answered: whoever watches the line sees a length.
 * @param {Pick<Plan, 'questions'>} plan
 * @param {ReadonlyMap<string, number>} answers
 */
export function padding(plan, answers) {
  const digits = parted(plan).given.map(({ name }) => String(answers.get(name)).length);
  return ' '.repeat(digits.reduce((left, used) => left - used, WIDEST * digits.length));
}

/** Refuse a Plan that this page's words are not true of: one that has come or gone since the page was made. @param {Plan} plan */
export function expectWords({ questions }) {
  const words = [...new Set(questions.map(({ protection }) => protection))].sort().join(' ');
  const { words: said } = find(document, 'main').dataset;
  expect(words === said, 'page', `words for ${words}; reload it`, said);
}

/** Check a question that is sent as given: it declares no loss, for it gives its answer away. @param {Question} question */
export function verifyGiven(question) {
  const { name, kind, choices, decline, least, most, unit } = question;
  expect(!('channel' in question || 'loss' in question), name, 'neither channel nor loss', 'one');
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

/** Read what was typed; NaN for what is no whole number within the bounds. @param {string} text @param {Question} asked */
export function read(text, { kind, least, most }) {
  if (kind !== 'number') return Number(text);
  const plain = text.trim().replace(/^[−–]/, '-');
  const number = /^[-+]?\d{1,10}$/.test(plain) ? Number(plain) : NaN;
  return number >= Number(least) && number <= Number(most) ? number : NaN;
}

/** @param {Study} study */
export function welcome(study) {
  const { plan, digest, linked } = study;
  const { changed, given } = parted(plan);
  const screen = changed.length
    ? screens.welcome(deviceStudy(study))
    : fill('welcome', { ...plan, digest }, [linked ? 'linked' : 'unlinked', 'unsure']);
  put(screen, names(plan));
  find(screen, '#facts').prepend(...given.map((asked) => fill('fact-given', { number: plan.questions.indexOf(asked) + 1 })));
  return only(screen, plan);
}

/** @param {Plan} plan @param {number} index @param {number | undefined} chosen */
export function question(plan, index, chosen) {
  const asked = plan.questions[index];
  if (asked.channel) return screens.question(plan, index, chosen);
  const isNumber = asked.kind === 'number';
  const bounds = { least: told(asked.least), most: told(asked.most), unit: asked.unit };
  const screen = screens.frame(plan, index, bounds, ['given', isNumber ? 'number' : 'choice', asked.unit !== '' && 'unit']);
  find(screen, '#answers').append(...(isNumber ? [numberInput(asked, bounds, chosen)] : screens.answerGroups(asked, chosen)));
  return screen;
}

/** @param {Question} asked @param {Record<string, unknown>} bounds @param {number | undefined} chosen */
function numberInput({ least, unit }, bounds, chosen) {
  const field = fill('number', bounds, [unit !== '' && 'unit']);
  const input = /** @type {HTMLInputElement} */ (find(field, 'input'));
  if (Number(least) < 0) input.inputMode = 'text'; // keys of digits have no minus
  if (chosen !== undefined && !isNaN(chosen)) input.value = String(chosen);
  return field;
}

/** @param {Plan} plan */
export function ready(plan) {
  const { changed } = parted(plan);
  const screen = changed.length ? screens.ready({ ...plan, questions: changed }) : fill('ready');
  put(screen, names(plan));
  return only(screen, plan);
}

/** @param {Study} study @param {Acknowledged} message @param {Pair[]} pairs */
export function sent(study, message, pairs) {
  const screen = screens.sent(study, message, pairs, (pair) => (pair.question.channel ? screens.pairItem(pair) : item(pair)));
  put(screen, names(study.plan));
  return only(screen, study.plan);
}

/** @param {Pair} pair */
function item({ question: { label, text, choices, unit }, answer }) {
  const shown = choices[answer] ?? `${told(answer)} ${unit}`.trim();
  return fill('pair-given', { label: label || text, chosen: shown });
}

/** Keep the words that are true of this Plan: said of one question, or of several. @param {DocumentFragment} screen @param {Plan} plan */
function only(screen, plan) {
  const { changed, given } = parted(plan);
  const holds = [changed.length > 1 ? 'changed-many' : 'changed-one', given.length > 1 ? 'given-many' : 'given-one', plan.questions.length > 1 ? 'asked-many' : 'asked-one'];
  for (const part of screen.querySelectorAll('[data-of]')) if (!holds.includes(String(part.getAttribute('data-of')))) part.remove();
  return screen;
}

/** @param {Plan} plan */
function names(plan) {
  const { changed, given } = parted(plan);
  const asked = plan.questions.length;
  const numbers = (/** @type {Question[]} */ some) => some.map((question) => `${plan.questions.indexOf(question) + 1}`);
  const list = new Intl.ListFormat(document.documentElement.lang);
  return {
    asked,
    time: screens.minutes(asked),
    first: numbers(changed)[0],
    changed: list.format(numbers(changed)),
    changedCount: changed.length,
    given: list.format(numbers(given)),
    givenCount: given.length,
  };
}

/** @param {Pick<Plan, 'questions'>} plan */
function parted({ questions }) {
  const changed = /** @type {DeviceQuestion[]} */ (questions.filter(({ channel }) => channel));
  return { changed, given: questions.filter(({ channel }) => !channel) };
}

/** Return the study as if only what chance changes were asked. @param {Study} study @returns {DeviceStudy} */
function deviceStudy(study) {
  const questions = study.checked.questions.filter((_, index) => study.plan.questions[index].channel);
  return { ...study, plan: { ...study.plan, questions: parted(study.plan).changed }, checked: { ...study.checked, questions } };
}

/** @param {number | undefined} number */
const told = (number) => String(number).replace('-', '−');
