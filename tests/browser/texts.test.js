import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectTexts, inLanguage } from '../../surveys/intake/static/intake/texts.js';

const plan = (choices) =>
  /** @type {any} */ ({
    language: 'en',
    title: 'Sleep',
    organisation: 'College',
    purpose: 'Why',
    questions: [
      {
        name: 'q1',
        kind: 'yes_no',
        text: 'Do you?',
        label: 'Do',
        help: '',
        choices: ['No', 'Yes'],
        channel: { kind: 'table' },
      },
    ],
    translations: { 'zh-hans': { title: '睡眠', questions: { q1: { text: '您呢？', choices } } } },
  });

test('a Plan is read in the language of the page; its channels and names stay', () => {
  const found = inLanguage(plan(['没有', '有']), 'zh-hans');
  assert.equal(found.title, '睡眠');
  assert.equal(found.organisation, 'College');
  assert.deepEqual(found.questions[0].choices, ['没有', '有']);
  assert.deepEqual(found.questions[0].channel, { kind: 'table' });
  assert.equal(found.questions[0].label, 'Do');
});

test('in its own language a Plan is read as it stands', () => {
  const own = plan(['没有', '有']);
  assert.equal(inLanguage(own, 'en'), own);
});

test('a translation that would ask something else is refused', () => {
  for (const choices of [['有'], ['没有', '有', '也许'], ['有', '有'], ['', '有'], 'ab', [1, 2]])
    assert.throws(() => inLanguage(plan(choices), 'zh-hans'), /q1: expected 2 choices that differ/);
  assert.throws(() => inLanguage(plan(['没有', '有']), 'fr'), /page: expected texts in fr/);
});

const sound = () => ({ ...plan(), contact: '', wave: 1 });

test('a Plan whose texts are all there can be shown, in any script', () => {
  expectTexts(sound());
  expectTexts({ ...sound(), title: 'دراسة عن النوم', organisation: '', purpose: '' });
});

const BROKEN = {
  'no title': (plan) => delete plan.title,
  'a blank title': (plan) => (plan.title = ' \u200b'),
  'a purpose that is none': (plan) => (plan.purpose = { a: 1 }),
  'a contact that is none': (plan) => (plan.contact = 7),
  'a question without a text': (plan) => delete plan.questions[0].text,
  'a question with a blank text': (plan) => (plan.questions[0].text = '\u2003'),
  'a help that is missing': (plan) => delete plan.questions[0].help,
  'a choice that cannot be seen': (plan) => (plan.questions[0].choices[1] = '\u200b'),
  'a choice that turns the odds beside it': (plan) => (plan.questions[0].choices[1] = 'Yes\u202e'),
  'a layout that this page does not know': (plan) => (plan.layout = 'grid'),
  'a wave in words': (plan) => (plan.wave = 'first'),
};
for (const [what, broken] of Object.entries(BROKEN))
  test(`refused before anything is shown: ${what}`, () => {
    const changed = sound();
    broken(changed);
    assert.throws(() => expectTexts(changed), /expected/);
  });
