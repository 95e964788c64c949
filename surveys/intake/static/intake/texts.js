/** A Plan's texts in one of its languages. Questions, channels and names are the same in all of them. */
import { expect } from './expect.js';

/**
 * Return a copy of the Plan as it is read in a language; the Plan itself in its own.
 * @param {Plan} plan Verified.
 * @param {string} language
 * @returns {Plan}
 */
export function inLanguage(plan, language) {
  if (language === plan.language) return plan;
  const texts = plan.translations?.[language];
  expect(texts, 'page', `texts in ${language}`, 'none');
  const {
    title = plan.title,
    organisation = plan.organisation,
    purpose = plan.purpose,
    questions = {},
  } = /** @type {Texts} */ (texts);
  const translated = plan.questions.map((question) =>
    translate(question, questions[question.name] ?? {}),
  );
  return { ...plan, title, organisation, purpose, language, questions: translated };
}

/** Refuse a Plan of which a part would be shown as nothing, or as what it is not. @param {Plan} plan As it is read. */
export function expectTexts({ title, organisation, purpose, contact, wave, layout, questions }) {
  expect([title, organisation, purpose, contact].every(isText) && isSaid(title), 'plan', 'texts', {
    title,
    organisation,
    purpose,
    contact,
  });
  expect(
    Number.isSafeInteger(wave) && [undefined, 'page'].includes(layout),
    'plan',
    'a wave and a layout',
    [wave, layout],
  );
  for (const { name, text, label, help, choices, group } of questions) {
    expect([text, label, help, group?.text ?? ''].every(isText) && isSaid(text), name, 'texts', {
      text,
      label,
      help,
      group,
    });
    expect(choices.every(isSaid), name, 'choices in words', choices);
  }
}

/** Marks that turn the direction of what follows could turn the odds beside it. @param {unknown} text */
export const isText = (text) =>
  typeof text === 'string' && !/[\u202a-\u202e\u2066-\u2069]/.test(text);

/** @param {unknown} text */
const isSaid = (text) => isText(text) && /[\p{L}\p{N}\p{P}\p{S}]/u.test(String(text));

/** @param {Question} question @param {QuestionTexts} texts @returns {Question} */
function translate(
  question,
  { text, label, help, unit, group, picture, choices = question.choices },
) {
  const { name, choices: own } = question;
  const alike =
    Array.isArray(choices) &&
    choices.length === own.length &&
    choices.every((choice) => typeof choice === 'string' && choice);
  expect(
    alike && new Set(choices).size === own.length,
    name,
    `${own.length} choices that differ in every language`,
    choices,
  );
  const found = {
    ...question,
    choices,
    text: text || question.text,
    label: label || question.label,
    help: help || question.help,
  };
  if (unit) found.unit = unit;
  if (group && question.group) found.group = { ...question.group, text: group };
  if (picture && question.picture) found.picture = { ...question.picture, text: picture };
  return found;
}
