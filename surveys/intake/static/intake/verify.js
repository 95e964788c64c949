/** The check of a Plan before it asks anything: what answers could give away, exactly, against what is declared. */
import { channelOf } from './channels.js';
import {
  differ,
  expect,
  isInteger,
  isList,
  lossOfAll,
  matches,
  verifyChoices,
  verifyTexts,
} from './expect.js';
import { COUNTED, partsOf, sentTogether } from './parts.js';

/** The greatest total loss that this script will ask for: e⁸, rounded up. @type {Ratio} */
export const MAXIMUM_TOTAL = [2_980_957_987_042n, 1_000_000_000n];

/** The unit of publications that protect one answer of a person, and not all of them together. */
const ONE_ANSWER = 'answer-in-study';

/** More would keep a phone busy with the arithmetic before it could refuse. */
const MOST_QUESTIONS = 100;

/** The most waves that a study plans. */
const MOST_WAVES = 99;

/** @type {Ratio} */
const NOTHING = [1n, 1n];
const NAME = /^[a-z][a-z0-9_]{0,19}$/;

/**
 * Check a Plan as surveys/design/documents.py does; throw an Error of what was expected and what came.
 * @param {Plan} plan
 * @param {(question: Question) => CheckedQuestion} [verifyClear] Of cleartext.js: without it, nothing may be sent in the clear.
 * @param {(plan: Plan) => { sets: string[][], joint: JointBlock[] }} [verifyDrawn] Of drawn.js: without it, everybody is asked everything.
 * @returns {Checked}
 */
export function verify(plan, verifyClear, verifyDrawn) {
  expect(plan?.format === 1, 'plan', 'format 1', plan?.format);
  const { questions } = plan;
  expect(isList(questions) && questions.length > 0, 'plan', 'questions', questions);
  expect(
    questions.length <= MOST_QUESTIONS,
    'plan',
    `at most ${MOST_QUESTIONS} questions`,
    questions.length,
  );
  verifyParts(plan);
  const together = sentTogether(plan);
  const checked = questions.map((question, index) => ({
    ...verifyQuestion(question, questions.slice(0, index), verifyClear, together),
    number: index + 1,
  }));
  expect(
    differ(questions.map(({ name }) => name)),
    'plan',
    'each question named once',
    'a name twice',
  );
  questions.forEach((question, index) => verifyGroup(question, questions.slice(0, index)));
  const isDrawn = 'blocks' in plan || 'drawn' in plan;
  expect(!isDrawn || verifyDrawn, 'plan', 'no blocks or sets', 'some');
  const { sets, joint } = (isDrawn && verifyDrawn?.(plan)) || {
    sets: [questions.map(({ name }) => name)],
    joint: [],
  };
  const blocks = joint.map(({ name, found, loss, questions }) => {
    expect(found[0] > found[1], name, 'a channel that favours the truth', show(found));
    const declared = readLoss(loss, name);
    expectCovered(declared, found, name);
    return { name, declared, found, questions };
  });
  const sent = [...checked, ...blocks];
  const found = sets
    .map((names) => lossOfAll(sent.filter(({ name }) => names.includes(name))))
    .reduce(larger);
  const all = 'all together';
  const declared = readLoss(plan.loss, all);
  expectCovered(declared, found, all);
  expect(
    declared[0] * MAXIMUM_TOTAL[1] <= MAXIMUM_TOTAL[0] * declared[1],
    all,
    `loss of at most ${show(MAXIMUM_TOTAL)}`,
    show(declared),
  );
  verifyPublication(plan);
  if (plan.unit === ONE_ANSWER) verifyUnit(plan);
  if ('waves' in plan || 'draws' in plan) verifyWaves(plan);
  const { accounting, ...publication } = plan.publication;
  if ('counts' in publication) verifyCounts(plan);
  const isKnown = accounting === undefined || ('counts' in publication && accounting === 2);
  expect(isKnown, 'plan', 'an accounting of 2, where what answers lose is counted', accounting);
  frozen(plan);
  return { questions: checked, declared, found, blocks };
}

/** Keep a Plan as it was verified: whatever is said or drawn from here on is of these very integers. @param {object} part */
function frozen(part) {
  for (const inner of Object.values(part)) if (inner && typeof inner === 'object') frozen(inner);
  Object.freeze(part);
}

/** Refuse a part that nothing here verifies, wherever it stands. @param {Plan} plan */
function verifyParts(plan) {
  for (const [place, part, allowed] of partsOf(plan)) {
    expect(part && typeof part === 'object' && !isList(part), place, 'an object with parts', part);
    const names = allowed.split(' ').filter(Boolean);
    const extra = Object.keys(part).find((name) => !names.includes(name));
    expect(extra === undefined, place, `no parts but ${names.join(', ')}`, extra);
  }
}

/** @param {Question} question @param {Question[]} earlier @param {((question: Question) => CheckedQuestion)} [verifyClear] @param {Set<string>} [together] */
function verifyQuestion(question, earlier, verifyClear, together) {
  const { name, protection, decline, channel, loss } = /** @type {DeviceQuestion} */ (question);
  expect(matches(name, NAME), 'a question', 'a name', name);
  expect(decline === 0 || decline === 1, name, 'decline 0 or 1', decline);
  if ('skipped' in question) verifySkipped(question);
  if ('asked_if' in question) verifyCondition(question, earlier);
  if ('follows' in question) verifyFollows(question, earlier);
  if ('picture' in question) verifyPicture(name, question.picture);
  if ('codes' in question) verifyCodes(question);
  if (verifyClear && protection === 'publication') return verifyClear(question);
  expect(protection === 'device', name, 'protection device', protection);
  if (together?.has(name)) {
    verifyChoices(question);
    return { name, declared: NOTHING, found: NOTHING }; // its block's answer does
  }
  const { learns, verify, lossOf } = channelOf(question);
  expect(learns === wantedOf(question), name, 'a channel for what is wanted', channel.kind);
  if (COUNTED.has(question.kind)) verifySteps(question);
  else verifyChoices(question, learns === 'ticks');
  verify(question);
  const found = lossOf(channel);
  expect(found[0] > found[1], name, 'a channel that favours the truth', show(found));
  const declared = readLoss(loss, name);
  expectCovered(declared, found, name);
  return { name, declared, found };
}

/** The last answer says that a question does not apply, or was not asked, and goes the way of all answers. @param {Question} question */
function verifySkipped({ name, kind, skipped }) {
  const text = 'skipped 1, of choices';
  expect(skipped === 1 && !COUNTED.has(kind), name, text, skipped);
}

/** A question that is not always asked has "Not asked" as its last answer. @param {Question} question @param {Question[]} earlier */
function verifyCondition({ name, protection, skipped, asked_if }, earlier) {
  expect(skipped === 1, name, 'an answer "Not asked"', skipped);
  const other = earlier.find((question) => question.name === asked_if?.question);
  expect(
    other && ['yes_no', 'single', 'likert'].includes(other.kind),
    name,
    'an earlier question of choices',
    asked_if,
  );
  expect(
    protection === 'device' || other?.protection === 'publication',
    name,
    'nothing sent as given that tells another answer',
    protection,
  );
  const { answers } = asked_if ?? { answers: [] };
  const last = (other?.choices.length ?? 0) - 1 - (other?.skipped ?? 0);
  const rise =
    isList(answers) &&
    answers.length > 0 &&
    answers.every((answer, i) => isInteger(answer, i ? answers[i - 1] + 1 : 0, last));
  expect(rise, name, 'its answers, rising', answers);
}

/** What follows from another question, and is asked of everybody: both count as one answer. @param {Question} question @param {Question[]} earlier */
function verifyFollows({ name, skipped, asked_if, follows }, earlier) {
  const isEarlier = earlier.some((question) => question.name === follows);
  expect(isEarlier && skipped && !asked_if, name, 'an earlier question to follow from', follows);
}

/** What files call the choices: each has a code of its own, and declining may have one. @param {Question} question */
function verifyCodes({ name, kind, choices, codes, decline, skipped }) {
  const own = isList(choices) ? choices.length - (skipped ?? 0) : 0;
  const sound =
    !COUNTED.has(kind) &&
    isList(codes) &&
    own - decline <= codes.length &&
    codes.length <= own &&
    codes.every((code) => matches(code, /^[A-Za-z0-9._-]{1,32}$/)) &&
    new Set(codes).size === codes.length;
  expect(sound, name, 'a code for each choice', codes);
}

/** @param {string} name @param {Picture | undefined} picture */
function verifyPicture(name, picture) {
  const { sha256, type, width, height, text } = picture ?? /** @type {Partial<Picture>} */ ({});
  const sound =
    matches(sha256, /^[0-9a-f]{64}$/) &&
    matches(type, /^image\/(png|jpeg|webp|gif)$/) &&
    typeof text === 'string';
  expect(
    sound && isInteger(width, 1, 10_000) && isInteger(height, 1, 10_000),
    name,
    'a picture',
    picture,
  );
}

/** Rows of one matrix stand together, and are answered alike. @param {Question} question @param {Question[]} earlier */
function verifyGroup(question, earlier) {
  if (!('group' in question)) return;
  const { name, kind, group } = question;
  expect(
    (kind === 'likert' || isScored(question)) &&
      matches(group?.name, NAME) &&
      typeof group?.text === 'string',
    name,
    'a group of scales',
    group,
  );
  const before = earlier[earlier.length - 1];
  const follows = before?.group?.name === group?.name;
  const alike = follows
    ? answered(before) === answered(question)
    : earlier.every((other) => other.group?.name !== group?.name);
  expect(alike, name, 'rows together, and answered alike', group);
}

/** @param {Question} question */
const answered = ({ choices, decline, protection, skipped, asked_if, group }) =>
  JSON.stringify([
    choices,
    decline,
    protection,
    skipped,
    asked_if?.question,
    asked_if?.answers,
    group?.text,
  ]);

/** Return what a question's channel must learn. @param {Question} question */
function wantedOf(question) {
  if (COUNTED.has(question.kind)) return question.wanted;
  return question.kind === 'multiple' ? 'ticks' : 'shares';
}

/** @param {Question} question */
function verifySteps(question) {
  const { name, kind, choices, decline, least, most, unit, wanted } = question;
  const isPlain = isList(choices) && (!choices.length || isScored(question));
  expect(decline === 0 && isPlain, name, 'no choices', choices);
  expect(typeof unit === 'string', name, 'a unit in words', unit);
  const [first, last] = COUNTED.get(kind) ?? [0, 0];
  expect(
    [least, most].every((bound) => isInteger(bound, first, last)),
    name,
    'whole bounds',
    [least, most],
  );
  const steps = Number(most) - Number(least);
  expect(isInteger(steps, 1, 10_000), name, '1 to 10,000 steps', steps);
  if (!choices.length) return;
  verifyTexts(question);
  const isOne = wanted === 'mean' && choices.length === steps + 1;
  expect(isOne, name, 'a mean wanted, and a choice for each number', choices.length);
}

/** Tell whether the answers to a number are words: a scale whose mean is wanted. @param {Question} question */
const isScored = ({ kind, choices }) => kind === 'number' && choices.length > 0;

/** Whether somebody took part is more than one answer, and what answers lose is counted in ε. @param {Plan} plan */
function verifyUnit({ caps, neighbours, unit }) {
  const isKnown = neighbours === 'change-one' && !('central_delta' in caps);
  expect(isKnown, 'plan', 'change-one, with a cap on ε', unit);
}

/** Of how many waves it is one, and how chance falls in them: a key is for later ones. Older Plans say neither. @param {Plan} plan */
function verifyWaves({ wave, waves, draws }) {
  expect(isInteger(waves, 1, MOST_WAVES), 'plan', `1 to ${MOST_WAVES} waves`, waves);
  expect(isInteger(wave, 1, Number(waves)), 'plan', `one of ${waves} waves`, wave);
  const isKept = draws === 'kept' && Number(waves) > 1;
  expect(draws === 'fresh' || isKept, 'plan', 'fresh draws, or kept in two waves or more', draws);
}

/** What answers lose is counted where all that one record is can change, and nothing else. @param {Plan} plan */
function verifyCounts({ caps, draws, neighbours, publication, unit, wave }) {
  const isWhole = unit === 'respondent-in-study' || unit === ONE_ANSWER;
  const isApart = wave === 1 || draws === 'fresh'; // a kept key repeats draws
  const isKnown = neighbours === 'change-one' && isWhole && isApart;
  expect(
    publication.counts === 'answers' && isKnown && !('central_delta' in caps),
    'plan',
    'a first wave or fresh draws, change-one, with a cap on ε',
    publication.counts,
  );
}

/** @param {Plan} plan */
function verifyPublication({ caps, publication }) {
  const cap = readAmount(caps?.central_epsilon);
  const epsilon = readAmount(publication?.epsilon);
  expect(
    0n < epsilon && epsilon <= cap && cap <= readAmount('20'),
    'plan',
    '0 < ε of publication ≤ cap ≤ 20',
    [caps, publication],
  );
  expect(
    isInteger(publication.smallest_batch, 1, Number.MAX_SAFE_INTEGER),
    'plan',
    'a smallest batch',
    publication.smallest_batch,
  );
  expect(
    !('widest' in publication) || isInteger(publication.widest, 1, 99),
    'plan',
    'a widest interval of 1 to 99 %',
    publication.widest,
  );
  const terms = [caps.central_delta, caps.central_rho, publication.rho];
  if (terms.every((term) => term === undefined)) return;
  const [delta, most, rho] = terms.map((term) => readAmount(term, 12));
  const one = readAmount('1', 12);
  expect(
    0n < delta && delta < one && 0n < rho && rho <= most && most <= 200n * one,
    'plan',
    '0 < δ < 1, 0 < ρ of publication ≤ cap ≤ 200',
    terms,
  );
}

/** Return a decimal in units of its last place. @param {unknown} text @param {number} [places] */
function readAmount(text, places = 9) {
  const [, whole = '', part = ''] =
    /^(\d+)(?:\.(\d+))?$/.exec(typeof text === 'string' ? text : '') ?? [];
  expect(whole && part.length <= places, 'plan', 'an ε in decimals', text);
  return BigInt(whole + part.padEnd(places, '0'));
}

/** @param {unknown} loss @param {string} name */
function readLoss(loss, name) {
  const good =
    isList(loss) &&
    loss.length === 2 &&
    loss.every((part) =>
      matches(Number.isSafeInteger(part) ? `${part}` : part, /^[1-9]\d{0,999}$/),
    );
  expect(good, name, 'a declared loss', loss);
  return /** @type {Ratio} */ (/** @type {string[]} */ (loss).map(BigInt));
}

/** @param {Ratio} declared @param {Ratio} found @param {string} name */
function expectCovered(declared, found, name) {
  expect(
    declared[0] * found[1] >= found[0] * declared[1],
    name,
    `loss of at most ${show(declared)}`,
    show(found),
  );
}

/** @param {Ratio} a @param {Ratio} b */
const larger = (a, b) => (a[0] * b[1] >= b[0] * a[1] ? a : b);

/** @param {Ratio} ratio */
const show = ([top, bottom]) => `${top}/${bottom}`;
