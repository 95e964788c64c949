/** Which questions are asked, after the answers so far; and what stands for the others, so that no message tells. */
import { declinedOf } from './blocks.js';

/** Tell whether a question is asked. @param {Pick<Plan, 'questions'>} plan @param {number} index @param {Answers} answers @returns {boolean} */
export function isAsked({ questions }, index, answers) {
  const { asked_if } = questions[index];
  if (isDeclined({ questions }, index, answers)) return false;
  if (!asked_if) return true;
  const earlier = questions.findIndex(({ name }) => name === asked_if.question);
  const answer = answers.get(asked_if.question);
  return (
    earlier >= 0 &&
    earlier < index &&
    isAsked({ questions }, earlier, answers) &&
    asked_if.answers.includes(Number(answer ?? -1))
  );
}

/** Tell whether an earlier question was declined whose declining is one with that of this one. @param {Pick<Plan, 'questions'>} plan @param {number} index @param {Answers} answers @returns {boolean} */
function isDeclined({ questions }, index, answers) {
  const { sentAs } = questions[index];
  return questions.some(
    (earlier, at) =>
      at < index &&
      sentAs?.decline === 1 &&
      earlier.sentAs === sentAs &&
      answers.get(earlier.name) === declinedOf(earlier) &&
      isAsked({ questions }, at, answers),
  );
}

/** Return an answer for every question: “Not asked” for those that were not, and declining with what is declined. @param {Pick<Plan, 'questions'>} plan @param {Answers} answers @returns {Map<string, Answer>} */
export function complete({ questions }, answers) {
  const pairs = questions.map((question, index) => {
    const answer = isAsked({ questions }, index, answers)
      ? answers.get(question.name)
      : standIn({ questions }, index, answers);
    return /** @type {const} */ ([question.name, answer]);
  });
  return new Map(
    pairs.filter(/** @returns {pair is [string, Answer]} */ (pair) => pair[1] !== undefined),
  );
}

/** Return the answer of a question that is not asked. @param {Pick<Plan, 'questions'>} plan @param {number} index @param {Answers} answers @returns {Answer} */
export function standIn({ questions }, index, answers) {
  const { kind, choices } = questions[index];
  if (isDeclined({ questions }, index, answers)) return declinedOf(questions[index]);
  return kind === 'multiple' ? [choices.length - 1] : choices.length - 1;
}

/** Return the screens, each as the indices of its questions: neighbours of a group share one, or all do. @param {Pick<Plan, 'questions' | 'layout'>} plan */
export function screensOf({ questions, layout }) {
  /** @type {number[][]} */
  const screens = [];
  questions.forEach(({ group }, index) => {
    const together =
      index > 0 &&
      (layout === 'page' || (group && group.name === questions[index - 1].group?.name));
    if (together) screens[screens.length - 1].push(index);
    else screens.push([index]);
  });
  return screens;
}

/** Return the questions of a screen that are asked. @param {Pick<Plan, 'questions'>} plan @param {number[]} screen @param {Answers} answers */
export const askedOf = (plan, screen, answers) =>
  screen.filter((index) => isAsked(plan, index, answers));

/** Return those among the asked that have no answer. @param {Pick<Plan, 'questions'>} plan @param {number[]} screen @param {Answers} answers */
export const openOf = (plan, screen, answers) =>
  askedOf(plan, screen, answers).filter((index) => !answers.has(plan.questions[index].name));

/**
 * Return the first place from one on where something is asked: 0 is the welcome, then the screens, then "Ready to send".
 * @param {Pick<Plan, 'questions' | 'layout'>} plan @param {number} place @param {Answers} answers
 */
export function placeFrom(plan, place, answers) {
  const screens = screensOf(plan);
  let found = Math.min(place, screens.length + 1);
  while (found > 0 && found <= screens.length && !askedOf(plan, screens[found - 1], answers).length)
    found += 1;
  return found;
}

/** Return the place asked for, or an earlier one with a question that is still open. @param {Pick<Plan, 'questions' | 'layout'>} plan @param {number} wanted @param {Answers} answers */
export function reachable(plan, wanted, answers) {
  const open = screensOf(plan).findIndex((screen) => openOf(plan, screen, answers).length > 0);
  return placeFrom(plan, open < 0 ? wanted : Math.min(wanted, open + 1), answers);
}
