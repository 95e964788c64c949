/** Which parts a Plan has, and everything in it: these and no others. Twin of surveys/plan/verification.py. */
import { channelOf } from './channels.js';

const PLAN =
  'blocks caps contact drawn draws format language layout loss neighbours organisation publication purpose questions results slug title translations unit wave waves';
const CAPS = 'central_delta central_epsilon central_rho panel';
const PUBLICATION = 'accounting counts epsilon rho rule smallest_batch widest';
const OF_RULE = { every: ' hours', continual: ' horizon hours' };
const QUESTION =
  'asked_if choices codes decline follows group help kind label name picture protection skipped text';
const INSIDE = {
  asked_if: 'answers question',
  group: 'name text',
  picture: 'height sha256 text type width',
};
const [TEXTS, TEXTS_OF_QUESTION] = [
  'organisation purpose questions title',
  'choices group help label picture text unit',
];
const LANGUAGE = /^[a-z]{2,3}(-[a-z0-9]{1,8}){0,3}$/; // a tag of BCP 47, in small letters

/** The kinds that are counted in whole steps, and the first and the last step of each. @type {ReadonlyMap<string, [number, number]>} */
export const COUNTED = new Map([
  ['number', [-(2 ** 31), 2 ** 31]],
  ['month', [12, 119_999]],
  ['date', [52, 521_773]],
]);

/** @typedef {[place: string, part: any, allowed: string]} Part */

/** Return every object of a Plan with where it stands and which parts it may have, the outer ones first. @param {any} plan @returns {Part[]} */
export function partsOf(plan) {
  const { caps, publication, questions, translations } = plan;
  const names = questions.map((/** @type {Question} */ { name }) => name);
  const joint = sentTogether(plan);
  return [
    ['plan', plan, PLAN],
    ['caps', caps, CAPS],
    ['publication', publication, PUBLICATION + ofRule(publication?.rule)],
    ...questions.flatMap((/** @type {any} */ question) =>
      ofQuestion(question, joint.has(question.name)),
    ),
    ...(plan.blocks ?? []).flatMap(ofBlock),
    ...(plan.drawn ?? []).map((/** @type {any} */ set, /** @type {number} */ at) => [
      `drawn ${at + 1}`,
      set,
      'blocks weight',
    ]),
    ...('translations' in plan ? ofTranslations(translations, names) : []),
  ];
}

/** @param {any} block @param {number} at @returns {Part[]} */
const ofBlock = (block, at) =>
  'channel' in block
    ? [
        [`blocks ${at + 1}`, block, 'channel decline loss name questions'],
        [`blocks ${at + 1}, channel`, block.channel, 'choices keep kind size'],
      ]
    : [[`blocks ${at + 1}`, block, 'questions']];

/** Return the names of the questions whose block sends them as one answer, as written. @param {any} plan @returns {Set<string>} */
export const sentTogether = ({ blocks = [] }) =>
  new Set(
    blocks
      .filter((/** @type {any} */ block) => 'channel' in block)
      .flatMap((/** @type {any} */ { questions }) => questions),
  );

/** @param {unknown} rule */
const ofRule = (rule) => (rule === 'every' || rule === 'continual' ? OF_RULE[rule] : '');

/** @param {any} question @param {boolean} together @returns {Part[]} */
function ofQuestion(question, together) {
  const { name, kind, protection, wanted, channel } = question;
  const [counted, changed] = [COUNTED.has(kind), protection === 'device' && !together];
  const more = [
    counted && ' least most unit',
    changed && ' channel loss',
    counted && changed && (wanted === 'distribution' ? ' bins wanted' : ' wanted'),
  ];
  const inside = Object.entries(INSIDE).filter(([part]) => part in question);
  return [
    [name, question, QUESTION + more.filter(Boolean).join('')],
    ...inside.map(
      ([part, allowed]) => /** @type {Part} */ ([`${name}, ${part}`, question[part], allowed]),
    ),
    ...(changed
      ? [/** @type {Part} */ ([`${name}, channel`, channel, channelOf(question).parts])]
      : []),
  ];
}

/** @param {Record<string, any>} translations @param {string[]} names @returns {Part[]} */
function ofTranslations(translations, names) {
  return [
    [
      'translations',
      translations,
      Object.keys(translations)
        .filter((tag) => LANGUAGE.test(tag))
        .join(' '),
    ],
    ...Object.entries(translations).flatMap(([language, texts]) => ofTexts(language, texts, names)),
  ];
}

/** @param {string} language @param {any} texts @param {string[]} names @returns {Part[]} */
function ofTexts(language, texts, names) {
  const each = Object.entries('questions' in texts ? texts.questions : {});
  return [
    [language, texts, TEXTS],
    ...('questions' in texts
      ? [/** @type {Part} */ ([`${language}, questions`, texts.questions, names.join(' ')])]
      : []),
    ...each.map(
      ([name, said]) => /** @type {Part} */ ([`${language}, ${name}`, said, TEXTS_OF_QUESTION]),
    ),
  ];
}
