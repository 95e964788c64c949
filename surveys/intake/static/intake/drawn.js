/**
 * Which questions this device asks, where a Plan says that each person is asked some: a set of blocks, drawn by whole
 * weights before anything is answered. Twin of surveys/plan/drawing.py. Fetched only for such a Plan.
 */
import { draw } from './blocks.js';
import { together } from './joint.js';
import { deviceStorage } from './device_ledger.js';
import { differ, expect, isInteger, isList, lossOfAll, matches } from './expect.js';
import { digestOf } from './plan.js';
import * as subset from './subset.js';
import { bytesOf, canonical } from './waves.js';

const [MOST_BLOCKS, MOST_SETS, MOST_WEIGHT] = [100, 100, 2 ** 20];
const NAME = /^[a-z][a-z0-9_]{0,19}$/;
const CHOSEN = ['yes_no', 'single', 'likert'];
const PREFIX = 'candor.drawn.';

/** @typedef {Plan & { blocks: Block[], drawn: DrawnSet[] }} DrawnPlan */

/** Check blocks and sets; return what each set sends, by name, and the blocks that send one answer. @param {Plan} plan */
export function verify(plan) {
  const { neighbours, blocks, drawn } = /** @type {DrawnPlan} */ (plan);
  expect(neighbours === 'change-one', 'drawn', 'change-one neighbours', neighbours);
  expect(isCount(blocks, MOST_BLOCKS), 'blocks', `1 to ${MOST_BLOCKS} blocks`, blocks);
  expect(isCount(drawn, MOST_SETS), 'drawn', `1 to ${MOST_SETS} sets of blocks`, drawn);
  const changed = plan.questions
    .filter(({ protection }) => protection === 'device')
    .map(({ name }) => name);
  for (const { questions } of blocks)
    expect(
      isList(questions) && questions.length && rise(questions.map((name) => changed.indexOf(name))),
      'blocks',
      'questions that are changed on the device, in their order',
      questions,
    );
  const held = blocks.flatMap(({ questions }) => questions);
  expect(
    differ(held) && held.length === changed.length,
    'blocks',
    'each question in one block',
    held,
  );
  for (const { name, asked_if } of plan.questions)
    expect(
      !asked_if ||
        !changed.includes(asked_if.question) ||
        blocks.some(({ questions }) =>
          [name, asked_if.question].every((each) => questions.includes(each)),
        ),
      name,
      'the block of what it depends on',
      asked_if,
    );
  for (const set of drawn)
    expect(
      isList(set.blocks) &&
        set.blocks.length &&
        set.blocks.every((at) => isInteger(at, 0, blocks.length - 1)) &&
        rise(set.blocks) &&
        isInteger(set.weight, 1, MOST_WEIGHT),
      'drawn',
      `blocks in rising order, and a weight from 1 to ${MOST_WEIGHT}`,
      set,
    );
  expect(differ(drawn.map(({ blocks }) => `${blocks}`)), 'drawn', 'sets that differ', drawn);
  expect(
    new Set(drawn.flatMap(({ blocks }) => blocks)).size === blocks.length,
    'drawn',
    'each block in a set',
    drawn,
  );
  const joint = blocks.filter(isJoint).map((block) => verifyJoint(plan, block));
  const names = [...plan.questions, ...joint].map(({ name }) => name);
  expect(differ(names), 'blocks', 'joint blocks named once, as no question is', names);
  const sets = drawn.map((set) => set.blocks.flatMap((at) => sentIn(blocks[at])));
  return { sets, joint };
}

/** @param {Block} block @returns {block is Block & JointParts} */
const isJoint = (block) => 'channel' in block;

/** Return the names of what a block sends. @param {Block} block */
const sentIn = (block) => (isJoint(block) ? [block.name] : block.questions);

/** @param {Plan} plan @param {Block & JointParts} block @returns {JointBlock} */
function verifyJoint(plan, { name, questions, channel, decline, loss }) {
  expect(matches(name, NAME), 'blocks', 'a name', name);
  expect(questions.length > 1, name, 'two questions or more', questions);
  const own = plan.questions.filter((each) => questions.includes(each.name));
  for (const { name, kind } of own) expect(CHOSEN.includes(kind), name, 'one choice', kind);
  const isDeclined = decline === 1 && own.every((each) => each.decline === 1);
  expect(decline === undefined || isDeclined, name, 'decline 1, and all to be declined', decline);
  const declined = Number(isDeclined);
  const length =
    own.reduce((cells, { choices }) => cells * (choices.length - declined), 1) + declined;
  expect(channel.kind === 'subset', name, 'a channel of subsets', channel.kind);
  subset.verify(/** @type {any} */ ({ name, choices: { length }, channel }));
  return { name, questions, loss, found: subset.lossOf(channel) };
}

/** @param {unknown} list @param {number} most */
const isCount = (list, most) => isList(list) && list.length > 0 && list.length <= most;

/** @param {number[]} numbers From 0. */
const rise = (numbers) => numbers.every((each, at) => each > (at ? numbers[at - 1] : -1));

/** @param {Pick<DrawnPlan, 'blocks' | 'drawn'>} plan */
const setsOf = ({ blocks, drawn }) =>
  drawn.map((set) => set.blocks.flatMap((at) => blocks[at].questions));

/**
 * Return the Plan and what was found of it for the questions that this device asks. The draw stays on the device for the
 * study: a reload, a second tab or a later wave with the same sets asks the same, else many draws would be one of all.
 * @param {Plan} plan Verified.
 * @param {Checked} checked
 * @param {Storage} [storage]
 */
export async function asked(plan, checked, storage = deviceStorage()) {
  const { slug, blocks, drawn } = /** @type {DrawnPlan} */ (plan);
  const of = await digestOf(bytesOf(canonical({ blocks, drawn })));
  const sets = setsOf({ blocks, drawn });
  const before = () => sets[kept(slug, of, storage) ?? -1];
  const set = draw(drawn.map(({ weight }) => weight));
  if (drawn.length > 1 && !before()) keep(slug, { of, set }, storage);
  const names = before() ?? sets[set]; // a tab may have been quicker
  const isAsked = (/** @type {Question} */ { name, protection }) =>
    protection !== 'device' || names.includes(name);
  const own = blocks.filter((block) => isJoint(block) && names.includes(block.questions[0]));
  const sent = (checked.blocks ?? []).filter(({ name }) => own.some((one) => one.name === name));
  const questions = checked.questions
    .filter((_, at) => isAsked(plan.questions[at]))
    .map((each, at) => ({ ...each, number: at + 1 }));
  return {
    plan: together(plan, plan.questions.filter(isAsked), own),
    checked: {
      ...checked,
      questions: questions.map((each) => ({
        ...each,
        ...lossIn(sent, each.name),
      })),
      blocks: sent,
      found: lossOfAll([...questions, ...sent]),
    },
  };
}

/** Return the losses of the answer that a question is sent in with others, if it is. @param {CheckedBlock[]} sent @param {string} name */
function lossIn(sent, name) {
  const block = sent.find(({ questions }) => questions.includes(name));
  return block && { declared: block.declared, found: block.found };
}

/** Return the studies that something was drawn for here. @param {Storage} [storage] */
export const draws = (storage = deviceStorage()) =>
  Object.keys(storage ?? {})
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => name.slice(PREFIX.length));

/** @param {string} slug @param {Storage} [storage] */
export const forgetDraw = (slug, storage = deviceStorage()) => storage?.removeItem(PREFIX + slug);

/** Return the set that was drawn here of the same sets. @param {string} slug @param {string} of @param {Storage} [storage] @returns {number | undefined} */
function kept(slug, of, storage) {
  try {
    const found = JSON.parse(storage?.getItem(PREFIX + slug) ?? 'null');
    return found?.of === of && Number.isInteger(found.set) ? found.set : undefined;
  } catch {
    return undefined;
  }
}

/** @param {string} slug @param {{ of: string, set: number }} draw @param {Storage} [storage] */
function keep(slug, draw, storage) {
  try {
    storage?.setItem(PREFIX + slug, JSON.stringify(draw));
  } catch {} // full, or forbidden: then this page asks what it drew, and the next draws anew
}
