/** What the respondent sees before sending, one function a screen. Words are in templates/intake/, numbers in the Plan. */
import { askedOf, isAsked, screensOf, standIn } from './branches.js';
import { declinedOf } from './blocks.js';
import { answerText, boundsOf, fieldsOf, listed, valueText } from './inputs.js';
import {
  atMost,
  decimal,
  factor,
  guessShare,
  holds,
  luckShare,
  marksOf,
  ofHundred,
  powerOf,
  restOf,
  shareOf,
  tellingOf,
  togetherShare,
  told,
} from './odds.js';
import { fill, find, put, word } from './page.js';
import { COUNTED } from './parts.js';
import { MAXIMUM_TOTAL } from './verify.js';

const SURE = 0.9; // beyond it odds protect little, and red says so

/** The answer that stands for everyone's in examples, whatever this respondent's is. @param {Question} question @returns {Answer} */
export function exampleOf({ kind, least, most, wanted, example }) {
  if (example !== undefined) return example;
  if (COUNTED.has(kind))
    return Math.floor((Number(most) - Number(least)) / (wanted === 'distribution' ? 2 : 1));
  if (kind === 'multiple') return [0];
  return kind === 'yes_no' ? 1 : 0;
}

/** Return which questions a study randomises, and which not, as lists in words. @param {Pick<Study, 'plan'>} study */
export function names({ plan: { questions } }) {
  const numbers = (/** @type {boolean} */ changed) =>
    questions.flatMap(({ channel }, index) => (!channel === changed ? [] : [`${index + 1}`]));
  const together = questions.find(({ channel }) => channel)?.numbers;
  return {
    first: together
      ? word('several', { numbers: listed(together) })
      : word('numbered', { number: numbers(true)[0] }),
    changed: listed(numbers(true)),
    given: listed(numbers(false)),
  };
}

/** @param {Study} study @param {boolean} begun Whether there are answers already. */
export function welcome(study, begun) {
  const { plan, digest, checked, linked, readers } = study;
  const { title, organisation, purpose } = plan;
  const first = firstChanged(plan);
  const texts = {
    ...names(study),
    title,
    organisation,
    purpose,
    minutes: study.minutes,
    readers: atMost(readers),
    asked: plan.questions.length,
    all: study.all,
  };
  const flags = [
    begun ? 'found' : 'new',
    linked ? 'linked' : 'unlinked',
    plan.unit === 'respondent-in-wave' && 'rounds',
  ];
  const screen = first
    ? fill('welcome', { ...texts, ...promiseTexts(study, first) }, [
        ...flags,
        ...promiseFlags(study, first),
      ])
    : fill('welcome', texts, flags);
  screen.querySelector('[data-part="readers"]')?.classList.toggle('yes', readers > SURE);
  for (const guess of screen.querySelectorAll('[data-part="together"]'))
    guess.classList.toggle('yes', togetherShare(checked.declared) > SURE);
  const limits = fill('limits', {
    maximum: decimal(MAXIMUM_TOTAL),
    digest: digest.replace(/(.{4})(?=.)/g, '$1 '),
  });
  const wide = matchMedia('(min-width: 60rem)').matches;
  for (const layer of screen.querySelectorAll('.layer')) layer.toggleAttribute('open', wide);
  find('#facts', screen).append(...facts(plan, checked), limits);
  return screen;
}

/** Return the first question that chance changes. @param {Plan} plan */
export const firstChanged = (plan) => changedOf(plan)[0];

/** Return what is sent that chance changes: questions, and joint answers. @param {Pick<Plan, 'questions' | 'sent'>} plan */
const changedOf = ({ questions, sent = questions }) =>
  /** @type {DeviceQuestion[]} */ (sent.filter(({ channel }) => channel));

/** How many guesses of 100 are right at most, by all that is randomised: the same before Start and after Send. @param {Checked} checked */
export const guessTexts = ({ declared }) => ({
  together: atMost(togetherShare(declared)),
  dots: Math.ceil(Number((100 * togetherShare(declared)).toFixed(8))),
});

/** @param {Study} study @param {DeviceQuestion} first */
function promiseTexts({ plan, checked }, first) {
  const most = mostTelling(checked);
  const own = ofHundred(shareOf(first, exampleOf(first)));
  return {
    ...oddsTexts(first, exampleOf(first)),
    full: own,
    rings: 100 - own,
    mostNumber: checked.questions[most].number,
    mostGuess: atMost(togetherShare(checked.questions[most].found)),
    ...guessTexts(checked),
    factor: factor(checked.declared),
    rounds: atMost(togetherShare(powerOf(checked.declared, plan.waves))),
  };
}

/** @param {Study} study @param {DeviceQuestion} first */
const promiseFlags = ({ checked }, first) => [
  tellingOf(first),
  togetherShare(checked.declared) > SURE ? 'sure' : 'unsure',
];

/**
 * Return the screen of some questions: one, a matrix, or all of them on a page.
 * @param {Study} study @param {number[]} indices @param {Answers} answers @param {(question: Question) => Node[]} pictures
 */
export function asking({ plan, readers }, indices, answers, pictures) {
  const asked = askedOf(plan, indices, answers);
  const count = plan.questions.length;
  const leftOut = plan.layout === 'page' ? [] : passedOver(plan, asked[0], answers);
  const stand = leftOut.length ? [standIn(plan, leftOut[0], answers)].flat()[0] : -1;
  const notAsked = plan.questions[leftOut[0]]?.choices[stand];
  const texts = {
    number: asked[0] + 1,
    last: (asked.at(-1) ?? 0) + 1,
    count,
    leftOut: listed(leftOut.map((index) => word('numbered', { number: index + 1 }))),
    notAsked,
  };
  const screen = fill('asking', texts, [
    plan.layout !== 'page' && 'screens',
    asked.length > 1 ? 'many' : 'one',
    leftOut.length > 0 && 'left-out',
  ]);
  const progress = screen.querySelector('progress');
  if (progress) Object.assign(progress, { max: count, value: texts.last });
  const place = find('#questions', screen);
  if (plan.layout === 'page') place.append(heading(1, word('page')));
  for (const part of parts(plan, indices)) {
    const level = plan.layout === 'page' ? 2 : 1;
    const questions = part.map((index) => plan.questions[index]);
    if (questions[0].group) place.append(matrix(questions, level, answers, pictures));
    else place.append(field(questions[0], level, answers, pictures));
  }
  put(screen, { readers: atMost(readers) });
  for (const index of indices)
    find(`[data-question="${plan.questions[index].name}"]`, screen).hidden = !asked.includes(index);
  return screen;
}

/** Return the questions just before one that are not asked. @param {Plan} plan @param {number} index @param {Answers} answers @returns {number[]} */
const passedOver = (plan, index, answers) =>
  index > 0 && !isAsked(plan, index - 1, answers)
    ? [...passedOver(plan, index - 1, answers), index - 1]
    : [];

/** Return the indices of a screen, those of one matrix together. @param {Plan} plan @param {number[]} indices */
const parts = ({ questions }, indices) =>
  screensOf({ questions: indices.map((index) => questions[index]) }).map((part) =>
    part.map((place) => indices[place]),
  );

/** @param {Question} question @param {number} level @param {Answers} answers @param {(question: Question) => Node[]} pictures @param {boolean} [ownChip] */
function field(question, level, answers, pictures, ownChip = true) {
  const { name, help, kind, decline, choices, numbers = [] } = question;
  const declined = choices[declinedOf(question)];
  const kinds = choices.length && kind !== 'multiple' ? 'choice' : kind;
  const texts = {
    name,
    help,
    declined,
    numbers: listed(numbers),
    none: word('none'),
    ...(choices.length ? {} : boundsOf(question)),
  };
  const made = fill('question', texts, [
    kinds,
    help !== '' && 'help',
    !!question.picture && 'picture',
    ownChip && 'chip',
    decline === 1 && 'decline',
    question.sentAs?.decline === 1 && 'skips',
  ]);
  find('legend', made).append(heading(level, question.text, level < 3 ? 'question' : 'h3'));
  if (help) find('fieldset', made).setAttribute('aria-describedby', `help-${name}`);
  if (question.picture) find('[data-part="picture"]', made).append(...pictures(question));
  if (ownChip) find('[data-part="chip"]', made).append(chip(question));
  find('[data-part="answers"]', made).append(...fieldsOf(question, answers.get(name)));
  return made;
}

/** Scales with the same choices; one chip if their odds are the same too. @param {Question[]} rows @param {number} level @param {Answers} answers @param {(question: Question) => Node[]} pictures */
function matrix(rows, level, answers, pictures) {
  const alike = rows.every(
    ({ channel }) => JSON.stringify(channel) === JSON.stringify(rows[0].channel),
  );
  const screen = fill('matrix', {}, [alike && 'chip']);
  find('[data-part="title"]', screen).append(heading(level, rows[0].group?.text ?? '', 'question'));
  if (alike) find('[data-part="chip"]', screen).append(chip(rows[0], ['matrix']));
  find('[data-part="rows"]', screen).append(
    ...rows.map((row) => field(row, 3, answers, pictures, !alike)),
  );
  for (const row of screen.querySelectorAll('legend > *'))
    row.replaceWith(heading(level + 1, row.textContent ?? '', 'h3'));
  return screen;
}

/** @param {number} level @param {string} text @param {string} [look] */
function heading(level, text, look = '') {
  const made = document.createElement(`h${level}`);
  if (level === 1) made.tabIndex = -1;
  made.className = look;
  made.textContent = text;
  return made;
}

/** Say of a question what protects its answer, and with which odds. @param {Question} question @param {string[]} [flags] */
function chip(question, flags = []) {
  if (!question.channel) return fill('chip-given');
  const asked = /** @type {DeviceQuestion} */ (question.sentAs ?? question);
  const texts = oddsTexts(asked, exampleOf(asked));
  const exact = texts.rest === Number(texts.each) * texts.others;
  const telling = tellingOf(asked);
  const guess = guessShare(asked);
  const sure = guess > SURE;
  const numbers = listed(question.numbers ?? []);
  const made = fill('chip', { ...texts, numbers, guess: atMost(guess) }, [
    ...flags,
    !!question.sentAs && 'joint',
    telling,
    telling === 'spread' && (exact ? 'exactly' : 'about'),
    sure && 'sure',
  ]);
  find('.chip', made).classList.toggle('sure', sure);
  return made;
}

/** @param {Study} study */
export function ready(study) {
  const first = firstChanged(study.plan);
  const texts = first && { ...oddsTexts(first, exampleOf(first)), ...guessTexts(study.checked) };
  return fill('ready', { ...names(study), ...texts }, []);
}

/**
 * Show one sample draw for the example answer, and how the draws have gone so far.
 * @param {ParentNode} screen @param {DeviceQuestion} first @param {Value} drawn @param {Tally} tally
 */
export function showThrow(screen, first, drawn, tally) {
  const example = exampleOf(first);
  const kept = holds(first, example, drawn);
  tally.throws += 1;
  tally.kept += Number(kept);
  put(screen, { drawn: valueText(first, drawn) });
  find('[data-part="goes"]', screen).classList.toggle('turned', !kept);
  find('[data-part="score"]', screen).replaceChildren(
    fill('score', { ...oddsTexts(first, example), ...tally }, [tellingOf(first)]),
  );
}

/** @param {DeviceQuestion} asked @param {Answer} answer For whom the odds are told. */
export function oddsTexts(asked, answer) {
  const { choices, channel } = asked;
  const isNumber = tellingOf(asked) === 'ends' || tellingOf(asked) === 'near';
  const opposite = isNumber || answer === 0 ? Number(!isNumber) : 0;
  const every =
    isNumber || Array.isArray(answer) ? [0] : choices.map((_, index) => shareOf(asked, index));
  const [own, other] = [
    shareOf(asked, answer),
    shareOf(asked, Array.isArray(answer) ? answer : opposite),
  ];
  return {
    example: answerText(asked, answer),
    option: choices[0],
    own: told(own),
    rest: restOf(own),
    opposite: answerText(asked, opposite),
    oppositeOwn: told(other),
    oppositeRest: isNumber ? told(other) : restOf(other),
    lowest: told(Math.min(...every)),
    highest: told(Math.max(...every)),
    others: choices.length - 1,
    each: told((sizeOf(channel) - own) / (choices.length - 1)), // of the others
    luck: told(luckShare(asked)),
    choices: choices.length,
    size: sizeOf(channel),
    marks: marksOf(asked),
    likely: Math.round(luckShare(asked) * marksOf(asked)),
  };
}

/** Return how many choices a report holds, or how many options it is about. @param {Channel} channel */
export const sizeOf = (channel) =>
  'size' in channel ? channel.size : 'together' in channel ? (channel.together ?? 1) : 1;

/** Return the index of the question that tells most, by a hundredth or more. @param {Checked} checked */
function mostTelling({ questions }) {
  const losses = questions.map(({ found }) => found);
  return losses.reduce(
    (best, loss, index) =>
      100n * loss[0] * losses[best][1] > 101n * losses[best][0] * loss[1] ? index : best,
    0,
  );
}

/** The arithmetic, for who wants to check it. @param {Plan} plan @param {Checked} checked */
function facts({ questions }, checked) {
  const rows = checked.questions.map((losses, index) =>
    questions[index].channel ? fact(losses, 'question') : fill('fact-given', losses),
  );
  const alone = checked.questions.filter(
    (_, index) => questions[index].channel && !questions[index].sentAs,
  );
  const changed = [...alone, ...(checked.blocks ?? [])];
  if (changed.length < 2) return rows;
  const factors = changed
    .map(({ found: [top, bottom] }) => (bottom > 1n ? `(${top} ∕ ${bottom})` : `${top}`))
    .join(' × ');
  return [...rows, fact(checked, 'together', `${factors} = `)];
}

/** @param {Losses} losses @param {string} which @param {string} [product] */
function fact({ declared, found, number }, which, product) {
  return fill(
    'fact',
    {
      number,
      product,
      declared: decimal(declared),
      found: decimal(found),
      top: found[0],
      bottom: found[1],
    },
    [which],
  );
}
