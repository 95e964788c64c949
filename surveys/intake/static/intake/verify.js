/** The check of a Plan before it asks anything: what answers could give away, exactly, against what is declared. */
import { WORD } from './words.js';

/** The greatest total loss that this script will ask for: ε = 8, rounded down. */
export const MAXIMUM_TOTAL = 2980n;

/**
 * Check a Plan as surveys/design/documents.py does; throw an Error of what was expected and what came.
 * @param {Plan} plan
 * @param {(question: Question) => CheckedQuestion} [verifyGiven] Of given.js: without it, nothing may be sent as given.
 * @returns {Checked}
 */
export function verify(plan, verifyGiven) {
  expect(plan?.format === 1, 'plan', 'format 1', plan?.format);
  const { questions } = plan;
  expect(isList(questions) && questions.length > 0, 'plan', 'questions', questions);
  const checked = questions.map((question, index) => ({ ...verifyQuestion(question, verifyGiven), number: index + 1 }));
  expect(differ(questions.map(({ name }) => name)), 'plan', 'each question named once', 'a name twice');
  const found = checked.map(({ found }) => found).reduce(multiply);
  const all = 'all together';
  const declared = readLoss(plan.loss, all);
  expectCovered(declared, found, all);
  expect(declared[0] <= MAXIMUM_TOTAL * declared[1], all, `loss of at most ${MAXIMUM_TOTAL}`, show(declared));
  verifyPublication(plan);
  return { questions: checked, declared, found };
}

/** Return e^ε, exactly: how much likelier one answer can make a report than another. @param {AnyChannel} channel Verified. */
export function lossOf(channel) {
  if (channel.kind === 'table') return tableLoss(channel.weights);
  const { choices, size, keep } = channel.kind === 'subset' ? channel : { ...channel, choices: 2, size: 1 }; // one_of: a bit
  return reduce(BigInt(keep) * BigInt(choices - size), BigInt(WORD - keep) * BigInt(size));
}

/** @param {Question} question @param {((question: Question) => CheckedQuestion)} [verifyGiven] */
function verifyQuestion(question, verifyGiven) {
  const { name, protection, choices, decline, channel, loss } = /** @type {DeviceQuestion} */ (question);
  expect(matches(name, /^[a-z][a-z0-9_]{0,19}$/), 'a question', 'a name', name);
  expect(decline === 0 || decline === 1, name, 'decline 0 or 1', decline);
  if (verifyGiven && protection === 'publication') return verifyGiven(question);
  expect(protection === 'device', name, 'protection device', protection);
  verifyChoices(question);
  expect(['table', 'subset'].includes(channel?.kind), name, 'a table or subset channel', channel?.kind);
  expect(!('decoder' in channel), name, 'no decoder', 'one');
  if (channel.kind === 'table') verifyTable(name, channel.weights, choices.length);
  else verifySubset(name, channel, choices.length);
  const found = lossOf(channel);
  expect(found[0] > found[1], name, 'a channel that favours the truth', show(found));
  const declared = readLoss(loss, name);
  expectCovered(declared, found, name);
  return { name, declared, found };
}

/** @param {Question} question */
export function verifyChoices({ name, kind, choices, decline }) {
  expect(['yes_no', 'single', 'likert'].includes(kind), name, 'a known kind', kind);
  expect(isList(choices) && choices.every((choice) => matches(choice, /[^]/)) && differ(choices), name, 'choices that differ', choices);
  const given = choices.length - decline;
  expect(kind === 'yes_no' ? given === 2 : given >= 2, name, 'two choices or more', choices);
}

/** @param {string} name @param {number[][]} weights @param {number} rows */
function verifyTable(name, weights, rows) {
  expect(isList(weights) && weights.length === rows && rows <= 64, name, `${rows} rows, at most 64`, weights?.length);
  const sums = weights.map((row) => {
    expect(isList(row) && row.length === rows, name, `${rows} weights in each row`, row?.length);
    for (const weight of row) expect(isInteger(weight, 1, WORD), name, 'weights from 1 to 2³²', weight);
    return row.reduce((sum, weight) => sum + weight, 0);
  });
  const alike = weights.every((row, own) => row.every((weight, i) => i === own || weight === weights[+!i][i]));
  expect(alike, name, 'each report alike after other answers', weights);
  for (const sum of sums) expect(sum <= WORD && sum === sums[0], name, 'rows of one sum, at most 2³²', sums);
}

/** @param {string} name @param {Subset} channel @param {number} rows */
function verifySubset(name, { choices, size, keep }, rows) {
  expect(choices === rows && rows <= 1024, name, `${rows} choices, at most 1024`, choices);
  expect(isInteger(size, 1, choices - 1), name, `size from 1 to ${choices - 1}`, size);
  expect(isInteger(keep, 1, WORD - 1), name, 'keep from 1 to 2³² − 1', keep);
}

/** @param {Plan} plan */
function verifyPublication({ caps, publication }) {
  const cap = readAmount(caps?.central_epsilon);
  const epsilon = readAmount(publication?.epsilon);
  expect(0n < epsilon && epsilon <= cap && cap <= readAmount('20'), 'plan', '0 < ε of publication ≤ cap ≤ 20', [caps, publication]);
  expect(isInteger(publication.smallest_batch, 1, Number.MAX_SAFE_INTEGER), 'plan', 'a smallest batch', publication.smallest_batch);
  const terms = [caps.central_delta, caps.central_rho, publication.rho];
  if (terms.every((term) => term === undefined)) return;
  const [delta, most, rho] = terms.map((term) => readAmount(term, 12));
  const one = readAmount('1', 12);
  expect(0n < delta && delta < one && 0n < rho && rho <= most && most <= 200n * one, 'plan', '0 < δ < 1, 0 < ρ of publication ≤ cap ≤ 200', terms);
}

/** Return a decimal in units of its last place. @param {unknown} text @param {number} [places] */
function readAmount(text, places = 9) {
  const [, whole = '', part = ''] = /^(\d+)(?:\.(\d+))?$/.exec(typeof text === 'string' ? text : '') ?? [];
  expect(whole && part.length <= places, 'plan', 'an ε in decimals', text);
  return BigInt(whole + part.padEnd(places, '0'));
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
export const isInteger = (value, least, most) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most;

const isList = Array.isArray;

/** @param {unknown[]} items */
const differ = (items) => new Set(items).size === items.length;

/** @param {unknown} text @param {RegExp} pattern */
const matches = (text, pattern) => typeof text === 'string' && pattern.test(text);

/** @param {unknown} loss @param {string} name */
function readLoss(loss, name) {
  const good = isList(loss) && loss.length === 2 && loss.every((part) => matches(Number.isSafeInteger(part) ? `${part}` : part, /^[1-9]\d{0,999}$/));
  expect(good, name, 'a declared loss', loss);
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

/** @param {unknown} holds @param {string} name @param {string} expected @param {unknown} got */
export function expect(holds, name, expected, got) {
  if (!holds) throw new Error(`${name}: expected ${expected}, got ${typeof got === 'string' ? got : JSON.stringify(got)}`);
}
