/** The check of a Plan before it asks anything: what answers could give away, exactly, against what is declared. */
import { partsOf } from './parts.js';
import { WORD } from './words.js';

/** The greatest total loss that this script will ask for: ε = 8, rounded down. */
export const MAXIMUM_TOTAL = 2980n;

/** More would keep a phone busy with the arithmetic before it could refuse. */
const MOST_QUESTIONS = 100;

const NAME = /^[a-z][a-z0-9_]{0,19}$/;

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
  expect(questions.length <= MOST_QUESTIONS, 'plan', `at most ${MOST_QUESTIONS} questions`, questions.length);
  verifyParts(plan);
  const checked = questions.map((question, index) => ({ ...verifyQuestion(question, questions.slice(0, index), verifyGiven), number: index + 1 }));
  expect(differ(questions.map(({ name }) => name)), 'plan', 'each question named once', 'a name twice');
  questions.forEach((question, index) => verifyGroup(question, questions.slice(0, index)));
  const found = checked.map(({ found }) => found).reduce(multiply);
  const all = 'all together';
  const declared = readLoss(plan.loss, all);
  expectCovered(declared, found, all);
  expect(declared[0] <= MAXIMUM_TOTAL * declared[1], all, `loss of at most ${MAXIMUM_TOTAL}`, show(declared));
  verifyPublication(plan);
  frozen(plan);
  return { questions: checked, declared, found };
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

/** Return e^ε, exactly: how much likelier one answer can make a report than another. @param {AnyChannel} channel Verified. */
export function lossOf(channel) {
  if (channel.kind === 'table' || channel.kind === 'number') return tableLoss(channel.weights);
  const { choices, size, keep } = channel.kind === 'subset' ? channel : { ...channel, choices: 2, size: 1 }; // one_of: a bit
  return reduce(BigInt(keep) * BigInt(choices - size), BigInt(WORD - keep) * BigInt(size));
}

/** @param {Question} question @param {Question[]} earlier @param {((question: Question) => CheckedQuestion)} [verifyGiven] */
function verifyQuestion(question, earlier, verifyGiven) {
  const { name, protection, decline, channel, loss } = /** @type {DeviceQuestion} */ (question);
  expect(matches(name, NAME), 'a question', 'a name', name);
  expect(decline === 0 || decline === 1, name, 'decline 0 or 1', decline);
  if ('skipped' in question) verifySkipped(question);
  if ('asked_if' in question) verifyCondition(question, earlier);
  if ('picture' in question) verifyPicture(name, question.picture);
  if (verifyGiven && protection === 'publication') return verifyGiven(question);
  expect(protection === 'device', name, 'protection device', protection);
  if (['number', 'month'].includes(question.kind)) verifyNumber(question);
  else verifyChannel(question);
  const found = lossOf(channel);
  expect(found[0] > found[1], name, 'a channel that favours the truth', show(found));
  const declared = readLoss(loss, name);
  expectCovered(declared, found, name);
  return { name, declared, found };
}

/** @param {Question} question */
function verifyChannel(question) {
  const { name, kind, choices, channel } = /** @type {DeviceQuestion} */ (question);
  const several = kind === 'multiple';
  verifyChoices(question, several);
  expect((several ? ['one_of'] : ['table', 'subset']).includes(channel?.kind), name, several ? 'a one_of channel' : 'a table or subset channel', channel?.kind);
  if (channel.kind === 'table') verifyTable(name, channel.weights, choices.length);
  else if (channel.kind === 'subset') verifySubset(name, channel, choices.length);
  else verifyOneOf(name, /** @type {OneOf} */ (channel), choices.length);
}

/** @param {Question} question @param {boolean} [several] Whether several can be ticked. */
export function verifyChoices({ name, kind, choices, decline, skipped }, several = false) {
  expect(['yes_no', 'single', 'likert'].includes(kind) || several, name, 'a known kind', kind);
  expect(isList(choices) && choices.every((choice) => matches(choice, /[^]/)) && differ(choices), name, 'choices that differ', choices);
  const given = choices.length - decline - (skipped ?? 0);
  expect(kind === 'yes_no' ? given === 2 : given >= 2, name, 'two choices or more', choices);
}

/** The last answer says that a question does not apply, or was not asked, and goes the way of all answers. @param {Question} question */
function verifySkipped({ name, kind, skipped }) {
  expect(skipped === 1 && !['number', 'month'].includes(kind), name, 'an answer for whom it does not concern', skipped);
}

/** A question that is not always asked has "Not asked" as its last answer. @param {Question} question @param {Question[]} earlier */
function verifyCondition({ name, protection, skipped, asked_if }, earlier) {
  expect(skipped === 1, name, 'an answer "Not asked"', skipped);
  const other = earlier.find((question) => question.name === asked_if?.question);
  expect(other && ['yes_no', 'single', 'likert'].includes(other.kind), name, 'an earlier question of choices to depend on', asked_if);
  expect(protection === 'device' || other?.protection === 'publication', name, 'no "Not asked" sent as given that tells another answer', protection);
  const { answers } = asked_if ?? { answers: [] };
  const last = (other?.choices.length ?? 0) - 1 - (other?.skipped ?? 0);
  const rise = isList(answers) && answers.length > 0 && answers.every((answer, i) => isInteger(answer, i ? answers[i - 1] + 1 : 0, last));
  expect(rise, name, 'answers of that question, in rising order', answers);
}

/** @param {string} name @param {Picture | undefined} picture */
function verifyPicture(name, picture) {
  const { sha256, type, width, height, text } = picture ?? /** @type {Partial<Picture>} */ ({});
  const sound = matches(sha256, /^[0-9a-f]{64}$/) && matches(type, /^image\/(png|jpeg|webp|gif)$/) && typeof text === 'string';
  expect(sound && isInteger(width, 1, 10_000) && isInteger(height, 1, 10_000), name, 'a picture', picture);
}

/** Rows of one matrix stand together, and are answered alike. @param {Question} question @param {Question[]} earlier */
function verifyGroup(question, earlier) {
  if (!('group' in question)) return;
  const { name, kind, group } = question;
  expect(kind === 'likert' && matches(group?.name, NAME) && typeof group?.text === 'string', name, 'a group of scales', group);
  const before = earlier[earlier.length - 1];
  const follows = before?.group?.name === group?.name;
  const alike = follows ? answered(before) === answered(question) : earlier.every((other) => other.group?.name !== group?.name);
  expect(alike, name, 'rows of a group together, and answered alike', group);
}

/** @param {Question} question */
const answered = ({ choices, decline, protection, skipped, asked_if, group }) => JSON.stringify([choices, decline, protection, skipped, asked_if?.question, asked_if?.answers, group?.text]);

/** @param {Question} question */
function verifyNumber(question) {
  const { name, kind, choices, decline, least, most, unit, wanted, bins, channel } = /** @type {DeviceQuestion} */ (question);
  expect(decline === 0 && isList(choices) && !choices.length, name, 'no choices', choices);
  expect(typeof unit === 'string', name, 'a unit in words', unit);
  const ends = kind === 'month' ? [12, 119_999] : [-(2 ** 31), 2 ** 31];
  expect([least, most].every((bound) => isInteger(bound, ends[0], ends[1])), name, 'whole bounds', [least, most]);
  const steps = Number(most) - Number(least);
  expect(isInteger(steps, 1, 10_000), name, '1 to 10,000 steps', steps);
  if (wanted === 'mean') verifyDecoder(name, channel, steps);
  else {
    expect(wanted === 'distribution' && channel?.kind === 'table', name, 'a channel for what is wanted', wanted);
    expect(isInteger(bins, 2, Math.min(64, steps + 1)), name, 'bins that hold a number or more', bins);
    verifyWave(name, /** @type {Table} */ (channel).weights, Number(bins));
  }
}

/** Each report must be worth, on average and exactly, the point of the grid that it was drawn for. @param {string} name @param {any} channel @param {number} steps */
function verifyDecoder(name, channel, steps) {
  expect(channel?.kind === 'number', name, 'a channel of numbers', channel?.kind);
  const { grid, weights, decoder, scale } = /** @type {NumberChannel} */ (channel);
  const rises = isList(grid) && grid.every((point, i) => isInteger(point, i ? grid[i - 1] + 1 : 0, steps));
  expect(rises && grid[0] === 0 && grid[grid.length - 1] === steps, name, `a grid from 0 to ${steps}`, grid);
  expect(isList(decoder) && decoder.length > 1 && grid.length * decoder.length <= 4096, name, 'a worth of each report', decoder?.length);
  const total = verifyRows(name, weights, grid.length, decoder.length);
  const [worth, unit] = [decoder.map((number) => readWhole(number, name)), readWhole(scale, name)];
  expect(unit > 0n, name, 'a scale above 0', unit);
  weights.forEach((row, place) => {
    const mean = row.reduce((sum, weight, report) => sum + BigInt(weight) * worth[report], 0n);
    expect(mean === unit * BigInt(total) * BigInt(grid[place]), name, 'a decoder that is right on average', grid[place]);
  });
  const apart = worth.map((number) => 2n * number - unit * BigInt(steps)); // from the middle: small whole numbers, or no interval could be found
  const common = apart.reduce(divisor);
  expect(apart.every((number) => number ** 2n <= (1024n * common) ** 2n), name, 'reports worth small numbers', decoder);
}

/** A square wave on a ring: each row is the one before it, moved by one. @param {string} name @param {number[][]} weights @param {number} bins */
function verifyWave(name, weights, bins) {
  verifyRows(name, weights, bins, bins);
  const moved = weights.every((row, bin) => row.every((weight, report) => weight === weights[0][(report - bin + bins) % bins]));
  expect(moved, name, 'each row the one before it, moved by one', weights);
}

/** @param {string} name @param {number[][]} weights @param {number} rows */
function verifyTable(name, weights, rows) {
  verifyRows(name, weights, rows, rows);
  const alike = weights.every((row, own) => row.every((weight, i) => i === own || weight === weights[+!i][i]));
  expect(alike, name, 'each report alike after other answers', weights);
}

/** Return what every row adds up to. @param {string} name @param {number[][]} weights @param {number} rows @param {number} columns */
function verifyRows(name, weights, rows, columns) {
  expect(isList(weights) && weights.length === rows && rows > 1 && rows <= 64, name, `${rows} rows, at most 64`, weights?.length);
  const sums = weights.map((row) => {
    expect(isList(row) && row.length === columns, name, `${columns} weights in each row`, row?.length);
    for (const weight of row) expect(isInteger(weight, 1, WORD), name, 'weights from 1 to 2³²', weight);
    return row.reduce((sum, weight) => sum + weight, 0);
  });
  for (const sum of sums) expect(sum <= WORD && sum === sums[0], name, 'rows of one sum, at most 2³²', sums);
  return sums[0];
}

/** @param {string} name @param {OneOf} channel @param {number} rows */
function verifyOneOf(name, { options, keep }, rows) {
  expect(options === rows && rows <= 1024, name, `${rows} options, at most 1024`, options);
  expect(isInteger(keep, WORD / 2 + 1, WORD - 1), name, 'keep from 2³¹ + 1 to 2³² − 1', keep);
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

/** @param {unknown} number @param {string} name */
function readWhole(number, name) {
  const good = Number.isSafeInteger(number) || matches(number, /^-?[1-9]\d{0,999}$/);
  expect(good, name, 'whole numbers', number);
  return BigInt(/** @type {string} */ (number));
}

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
  const common = divisor(top, bottom);
  return [top / common, bottom / common];
}

/** Return the greatest number that divides both, with some sign. @param {bigint} a @param {bigint} b */
function divisor(a, b) {
  while (b) [a, b] = [b, a % b];
  return a;
}

/** @param {Ratio} ratio */
const show = ([top, bottom]) => `${top}/${bottom}`;

/** @param {unknown} holds @param {string} name @param {string} expected @param {unknown} got */
export function expect(holds, name, expected, got) {
  if (!holds) throw new Error(`${name}: expected ${expected}, got ${typeof got === 'string' ? got : JSON.stringify(got)}`);
}
