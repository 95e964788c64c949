// @ts-check
/**
 * The browser's own check of a Plan, before it asks anything: what each answer could give away is worked
 * out from the channel's integers, exactly, and compared with what the Plan declares.
 */
import { WORD } from './words.js';


/** The greatest loss of all questions together that this script will ask for: ε = 8, rounded down. */
export const MAXIMUM_TOTAL = 2980n;

/**
 * Check every question and their total; throw an Error that names the question, what was expected and what came.
 * @param {Plan} plan
 * @returns {Checked}
 */
export function verify(plan) {
  expect(plan?.format === 1, 'plan', 'format 1', plan?.format);
  const { questions } = plan;
  expect(Array.isArray(questions) && questions.length > 0, 'plan', 'questions', questions);
  expect(new Set(questions.map(({ name }) => name)).size === questions.length, 'plan', 'each question named once', 'a name twice');
  const checked = questions.map(verifyQuestion);
  const found = checked.map((question) => question.found).reduce(multiply);
  const declared = readLoss(plan.loss, 'all questions together');
  expectCovered(declared, found, 'all questions together');
  expect(declared[0] <= MAXIMUM_TOTAL * declared[1], 'all questions together', `loss of at most ${MAXIMUM_TOTAL}`, show(declared));
  return { questions: checked, declared, found };
}

/**
 * Return e^ε, exactly: how much likelier one answer can make a report than another.
 * @param {Channel} channel Of the right structure: see verify.
 * @returns {Ratio}
 */
export function lossOf(channel) {
  if (channel.kind === 'table') return tableLoss(channel.weights);
  const { choices, size, keep } = channel;
  return reduce(BigInt(keep) * BigInt(choices - size), BigInt(WORD - keep) * BigInt(size));
}

/** @param {Question} question @returns {CheckedQuestion} */
function verifyQuestion({ name, kind, protection, choices, decline, channel, loss }) {
  expect(typeof name === 'string' && name !== '', 'a question', 'a name', name);
  expect(protection === 'device', name, 'protection device', protection);
  expect(['yes_no', 'single', 'likert'].includes(kind), name, 'kind yes_no, single or likert', kind);
  expect(decline === 0 || decline === 1, name, 'decline 0 or 1', decline);
  expect(Array.isArray(choices) && choices.length - decline >= 2, name, 'two choices or more', choices);
  expect(kind !== 'yes_no' || choices.length - decline === 2, name, 'choices No and Yes', choices);
  verifyStructure(name, channel, choices.length);
  const found = lossOf(channel);
  const declared = readLoss(loss, name);
  expectCovered(declared, found, name);
  return { name, declared, found };
}

/** @param {string} name @param {Channel} channel @param {number} rows */
function verifyStructure(name, channel, rows) {
  switch (channel?.kind) {
    case 'table':
      return verifyTable(name, channel.weights, rows);
    case 'subset':
      return verifySubset(name, channel, rows);
    default:
      expect(false, name, 'a table or subset channel', /** @type {any} */ (channel)?.kind);
  }
}

/** @param {string} name @param {number[][]} weights @param {number} rows */
function verifyTable(name, weights, rows) {
  expect(Array.isArray(weights) && weights.length === rows, name, `${rows} rows of weights`, weights?.length);
  const width = weights[0]?.length;
  expect(width === rows, name, 'a report for each choice', width);
  const sums = weights.map((row) => {
    expect(Array.isArray(row) && row.length === width, name, `${width} weights in each row`, row?.length);
    for (const weight of row) expect(isInteger(weight, 0, WORD), name, 'weights from 0 to 2³²', weight);
    return row.reduce((sum, weight) => sum + weight, 0);
  });
  for (const sum of sums) expect(isInteger(sum, 1, WORD) && sum === sums[0], name, 'rows of one sum, at most 2³²', sums);
  for (const column of columns(weights)) {
    expect(column.some((weight) => weight > 0), name, 'every report possible', 'a column of zeros');
    expect(column.every((weight) => weight > 0), name, 'every report possible from every answer', 'a zero weight');
  }
  expect(columns(weights).some((column) => new Set(column).size > 1), name, 'rows that differ', 'equal ones');
}

/** @param {string} name @param {Subset} channel @param {number} rows */
function verifySubset(name, { choices, size, keep }, rows) {
  expect(choices === rows, name, `${rows} choices in the channel`, choices);
  expect(isInteger(size, 1, choices - 1), name, `size from 1 to ${choices - 1}`, size);
  expect(isInteger(keep, 1, WORD - 1), name, 'keep from 1 to 2³² − 1', keep);
  expect(size * WORD < keep * choices, name, 'keep to favour the truth', keep);
}

/** @param {number[][]} weights @returns {Ratio} */
function tableLoss(weights) {
  /** @type {Ratio} */
  let worst = [1n, 1n];
  for (const column of columns(weights)) {
    const [most, least] = [Math.max(...column), Math.min(...column)].map(BigInt);
    if (most * worst[1] > worst[0] * least) worst = [most, least];
  }
  return reduce(...worst);
}

/** @param {number[][]} weights */
const columns = (weights) => weights[0].map((_, report) => weights.map((row) => row[report]));

/** @param {unknown} value @param {number} least @param {number} most */
const isInteger = (value, least, most) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most;

/** @param {unknown} loss Pair of integers, as numbers or, above 2⁵³ − 1, decimal strings. @param {string} name @returns {Ratio} */
function readLoss(loss, name) {
  const whole = (/** @type {unknown} */ part) => Number.isSafeInteger(part) || typeof part === 'string';
  const good = Array.isArray(loss) && loss.length === 2 && loss.every((part) => whole(part) && /^[1-9]\d*$/.test(String(part)));
  expect(good, name, 'a declared loss of two positive integers', loss);
  return /** @type {Ratio} */ (/** @type {string[]} */ (loss).map(BigInt));
}

/** @param {Ratio} declared @param {Ratio} found @param {string} name */
function expectCovered(declared, found, name) {
  expect(declared[0] * found[1] >= found[0] * declared[1], name, `loss of at most ${show(declared)}`, show(found));
}

/** @param {Ratio} a @param {Ratio} b @returns {Ratio} */
const multiply = (a, b) => reduce(a[0] * b[0], a[1] * b[1]);

/** @param {bigint} top @param {bigint} bottom @returns {Ratio} */
function reduce(top, bottom) {
  let [a, b] = [top, bottom];
  while (b) [a, b] = [b, a % b];
  return [top / a, bottom / a];
}

/** @param {Ratio} ratio */
const show = ([top, bottom]) => `${top}/${bottom}`;

/** @param {boolean} holds @param {string} name @param {string} expected @param {unknown} got */
function expect(holds, name, expected, got) {
  if (!holds) throw new Error(`${name}: expected ${expected}, got ${typeof got === 'string' ? got : JSON.stringify(got)}`);
}
