/**
 * The questions of a block that are sent as one answer, as the one question that they are: its choices are all
 * combinations of theirs, its channel is the block's. Where the proofs are: dpengine/local/joint.py.
 */
import { answerTo, declinedOf } from './blocks.js';
import { listed } from './inputs.js';

/**
 * Return a Plan for these of its questions, and what of it is sent: each by itself, or those of a joint block as one.
 * @param {Plan} plan
 * @param {Question[]} questions
 * @param {Block[]} blocks Joint ones, all of whose questions are among them.
 * @returns {Plan}
 */
export function together(plan, questions, blocks) {
  const joint = blocks.map((block) => combined(block, plan));
  const of = (/** @type {Question} */ { name }) =>
    joint.find((one) => one.together?.some((each) => each.name === name));
  const asked = questions.map((question) => {
    const sentAs = of(question);
    if (!sentAs) return question;
    const numbers = questions.flatMap((each, at) => (of(each) === sentAs ? [`${at + 1}`] : []));
    return { ...question, channel: sentAs.channel, sentAs, numbers };
  });
  const sent = [...new Set(asked.map((question) => question.sentAs ?? question))];
  return { ...plan, questions: asked, sent };
}

/** Return what a block sends: a later wave of the same questions has the same, or it would be drawn anew. @param {Block} block @param {Plan} plan @returns {Question} */
function combined({ name, questions: names, channel, decline = 0 }, plan) {
  const own = plan.questions.filter((question) => names.includes(question.name));
  const choices = own.reduce((/** @type {string[]} */ found, question) => {
    const answers = question.choices.filter((_, at) => !decline || at !== declinedOf(question));
    return found.length
      ? found.flatMap((text) => answers.map((choice) => `${text} · ${choice}`))
      : answers;
  }, []);
  if (decline) choices.push(own[0].choices[declinedOf(own[0])]);
  const texts = own.map(({ label, text }) => label || text);
  /** @type {Question} */
  const joint = {
    name: String(name),
    kind: 'single',
    protection: 'device',
    text: listed(texts),
    label: listed(texts),
    help: '',
    choices,
    decline,
    channel,
    together: own,
  };
  return { ...joint, example: /** @type {number} */ (answerTo(joint, examplesOf(own))) };
}

/** Return the answers that stand for everyone's in examples: Yes, else the first choice, as conditions let it be. @param {Question[]} questions */
function examplesOf(questions) {
  /** @type {Map<string, number>} */
  const answers = new Map();
  for (const { name, kind, choices, asked_if: condition } of questions) {
    const before = answers.get(condition?.question ?? '');
    const isAsked = before === undefined || condition?.answers.includes(before);
    answers.set(name, isAsked ? Number(kind === 'yes_no') : choices.length - 1);
  }
  return answers;
}
