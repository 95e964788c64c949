/** The fields of a question, what they hold, and answers and reports in words. */
import { channelOf } from './channels.js';
import { marksOf, shownOrder } from './odds.js';
import { fill, find, language, word } from './page.js';
import { COUNTED } from './parts.js';

const NONE = -1; // the box that says that nothing in the list is true

/** More choices than these are a list to open: cards would be many screens of a phone. */
const LONG = 50;

/** Most letters that fit on a track: points × (longest word + 2). */
const TRACK = 76;

/** Return the fields of a question, with the answer that was given. @param {Question} question @param {Answer | undefined} answer @returns {Node[]} */
export function fieldsOf(question, answer) {
  if (isTyped(question)) return [typedField(question, answer)];
  if (question.kind === 'month') return [monthField(question, answer)];
  if (question.kind === 'date') return [dateField(question, answer)];
  if (isLong(question)) return [listField(question, answer)];
  return groupsOf(question).map(({ choices, track }) => {
    const list = document.createElement('div');
    list.className = track ? 'likert' : 'choices';
    list.append(...choices.map((choice) => choiceCard(question, choice, answer)));
    return list;
  });
}

/** Tell whether a number is typed: the numbers of a scale whose mean is wanted have words. @param {Question} question */
const isTyped = ({ kind, choices }) => kind === 'number' && !choices.length;

/** Return the choices as they stand together: on a track where they fit, else in a list. @param {Question} question */
function groupsOf(question) {
  const order = shownOrder(question);
  const points = question.choices.length - question.decline - (question.skipped ?? 0);
  if (question.kind === 'multiple') order.splice(points, 0, NONE);
  const longest = Math.max(
    ...question.choices
      .slice(0, points)
      .flatMap((choice) => choice.split(/\s/))
      .map((word) => word.length),
  );
  const isScale = question.kind === 'likert' || question.kind === 'number';
  const track = isScale && points * (longest + 2) <= TRACK;
  if (!track) return [{ choices: order, track }];
  const apart = order.slice(points);
  return [
    { choices: order.slice(0, points), track },
    ...(apart.length ? [{ choices: apart, track: false }] : []),
  ];
}

/** @param {Question} question @param {number} choice @param {Answer | undefined} answer */
function choiceCard({ name, kind, choices }, choice, answer) {
  const card = fill(kind === 'multiple' ? 'tick' : 'choice', {
    choice: choices[choice] ?? word('none'),
  });
  const input = inputIn(card);
  Object.assign(input, { name, value: String(choice) });
  input.defaultChecked = Array.isArray(answer)
    ? answer.includes(choice) || (choice === NONE && !answer.length)
    : choice === answer;
  return card;
}

/** @param {Question} question @param {Answer | undefined} answer */
function typedField(question, answer) {
  const field = fill('typed', { ...boundsOf(question), name: question.name, unit: question.unit }, [
    question.unit ? 'unit' : 'plain',
  ]);
  const input = inputIn(field);
  input.name = question.name;
  if (Number(question.least) < 0) input.inputMode = 'text'; // keys of digits have no minus
  if (answer !== undefined) input.defaultValue = String(Number(answer) + offsetOf(question));
  return field;
}

/** @param {Question} question @param {Answer | undefined} answer */
function monthField(question, answer) {
  const field = fill('month', { name: question.name });
  const [months, years] = [...field.querySelectorAll('select')];
  const [first, last] = [question.least, question.most].map((month) =>
    Math.floor(Number(month) / 12),
  );
  const month = answer === undefined ? undefined : Number(answer) + offsetOf(question);
  const names = new Intl.DateTimeFormat(language(), { month: 'long', timeZone: 'UTC' });
  const digits = new Intl.NumberFormat(language(), { useGrouping: false });
  const chosen = (/** @type {number} */ value, /** @type {number | undefined} */ is) =>
    is !== undefined && value === is;
  for (let i = 0; i < 12; i++)
    months.add(option(names.format(Date.UTC(2000, i)), i, chosen(i, month && month % 12)));
  for (let year = last; year >= first; year--)
    years.add(option(digits.format(year), year, chosen(year, month && Math.floor(month / 12))));
  if (month === undefined && first === last) years.selectedIndex = 1;
  return field;
}

/** @param {Question} question @param {Answer | undefined} answer */
function dateField(question, answer) {
  const field = fill('date', { ...boundsOf(question), name: question.name });
  const input = inputIn(field);
  input.min = dayOf(mondayOf(Number(question.least)));
  input.max = dayOf(sundayOf(Number(question.most)));
  if (answer !== undefined)
    input.defaultValue = dayOf(mondayOf(Number(answer) + offsetOf(question)));
  return field;
}

/** Return a day as fields of dates have it. @param {number} moment */
const dayOf = (moment) => new Date(moment).toISOString().slice(0, 10);

/** Tell whether a device shows its own list, in which people can look by typing. @param {Question} question */
const isLong = ({ kind, choices }) => kind === 'single' && choices.length > LONG;

/** @param {Question} question @param {Answer | undefined} answer */
function listField({ name, choices }, answer) {
  const field = fill('list', { name });
  const list = /** @type {HTMLSelectElement} */ (find('select', field));
  choices.forEach((choice, at) => list.add(option(choice, at, at === answer)));
  return field;
}

/** @param {string} text @param {number} value @param {boolean} chosen */
const option = (text, value, chosen) => new Option(text, String(value), chosen, chosen);

/** Return what the fields of a question say, undefined if that is no answer. @param {ParentNode} fields @param {Question} question @returns {Answer | undefined} */
export function readAnswer(fields, question) {
  if (isTyped(question)) return within(wholeIn(inputIn(fields).value), question);
  if (question.kind === 'month') {
    const [month, year] = [...fields.querySelectorAll('select')].map(({ value }) => value);
    return month && year ? within(Number(year) * 12 + Number(month), question) : undefined;
  }
  if (question.kind === 'date') return within(weekOf(Date.parse(inputIn(fields).value)), question);
  if (isLong(question)) {
    const { value } = /** @type {HTMLSelectElement} */ (find('select', fields));
    return value ? Number(value) : undefined;
  }
  const ticked = [...fields.querySelectorAll('input')]
    .filter(({ checked }) => checked)
    .map(({ value }) => Number(value));
  if (question.kind !== 'multiple') return ticked[0];
  return ticked.length
    ? ticked.filter((choice) => choice !== NONE).sort((a, b) => a - b)
    : undefined;
}

/** Read a whole number as it is typed, in digits of any width; NaN for anything else. @param {string} text */
export function wholeIn(text) {
  const plain = text.normalize('NFKC').trim().replace(/^[−–]/, '-');
  return /^[-+]?\d{1,10}$/.test(plain) ? Number(plain) : NaN;
}

/** @param {number} number @param {Question} question */
function within(number, question) {
  return number >= Number(question.least) && number <= Number(question.most)
    ? number - offsetOf(question)
    : undefined;
}

/** What is sent as given is the number itself; what chance changes is counted in steps from the least. @param {Question} question */
const offsetOf = ({ protection, least }) => (protection === 'device' ? Number(least) : 0);

/** Of several boxes, untick those that contradict the one that was just ticked. @param {ParentNode} fields @param {HTMLInputElement} ticked @param {Question} question */
export function settleTicks(fields, ticked, question) {
  const alone = (/** @type {HTMLInputElement} */ { value }) =>
    Number(value) === NONE ||
    Number(value) >= question.choices.length - (question.skipped ?? 0) - question.decline;
  if (!ticked.checked) return;
  for (const box of fields.querySelectorAll('input'))
    if (box !== ticked && (alone(ticked) || alone(box))) box.checked = false;
}

/** Return the least and the greatest number, month or day in words. @param {Question} question */
export function boundsOf(question) {
  const [least, most] = [Number(question.least), Number(question.most)];
  if (question.kind !== 'date')
    return { least: amount(question, least), most: amount(question, most) };
  const days = dates('numeric');
  return { least: days.format(mondayOf(least)), most: days.format(sundayOf(most)) };
}

/** Return a true answer in words. @param {Question} question @param {Answer} answer */
export function answerText(question, answer) {
  const { choices, unit } = question;
  if (Array.isArray(answer))
    return answer.length ? listed(answer.map((choice) => choices[choice])) : word('none');
  if (choices.length) return choices[answer];
  const number = amount(question, answer + offsetOf(question));
  return unit ? word('amount', { number, unit }) : number;
}

/** Return what was sent in words. @param {Question} question @param {Value} value */
export function valueText(question, value) {
  const { kind, choices, channel } = question;
  if (!channel) return answerText(question, value);
  const ticks = channelOf(question).saidOf?.(channel, value);
  if (ticks)
    return ticks
      .map(([at, ticked]) => word(ticked ? 'ticked' : 'unticked', { option: choices[at] }))
      .join('\n');
  if (COUNTED.has(kind))
    return word('mark', {
      number: Number(value) + 1,
      count: marksOf(/** @type {DeviceQuestion} */ (question)),
    });
  return [value]
    .flat()
    .map((choice) => choices[choice])
    .join('\n');
}

/** @param {string[]} items */
export const listed = (items) =>
  new Intl.ListFormat(language()).format(items).replace(/(?<=\d)和(?=\d)/g, ' 和 '); // as texts stand beside numbers

/** @param {Question} question @param {number} number */
function amount({ kind }, number) {
  if (kind === 'month') return dates().format(Date.UTC(Math.floor(number / 12), number % 12));
  if (kind === 'date') return dates('numeric').formatRange(mondayOf(number), sundayOf(number));
  return new Intl.NumberFormat(language(), { useGrouping: false }).format(number).replace('-', '−');
}

const dates = (/** @type {'numeric' | undefined} */ day = undefined) =>
  new Intl.DateTimeFormat(language(), { year: 'numeric', month: 'long', day, timeZone: 'UTC' });

/** Weeks count from Monday, 3 January of year 0, 719,526 days before 1970. Twin of design/calendars.py. */
const [DAY, BEFORE_1970] = [86_400_000, 719_526];
const weekOf = (/** @type {number} */ moment) => Math.floor((moment / DAY + BEFORE_1970) / 7);
const mondayOf = (/** @type {number} */ week) => (week * 7 - BEFORE_1970) * DAY;
const sundayOf = (/** @type {number} */ week) => mondayOf(week) + 6 * DAY;

/** @param {ParentNode} root */
const inputIn = (root) => /** @type {HTMLInputElement} */ (find('input', root));
