/**
 * From “Send” on: the message is composed once, waits here until the site has answered, and is shown beside what was
 * chosen. What was chosen is in this page's memory only. Where questions are passed over, it leaves at moments of a grid.
 */
import { answerTo } from './blocks.js';
import { answerText, valueText } from './inputs.js';
import { add, dayText, eraseAll, guess, lineOf, lines, settle, together } from './device_ledger.js';
import { dropDraft } from './memory.js';
import { atMoments, sinceLoad } from './moments.js';
import { epsilon, holds, marksOf, powerOf, tellingOf } from './odds.js';
import { fill, find, language, linksHidden, show } from './page.js';
import {
  composeReport,
  forgetReport,
  keepReport,
  receiptOf,
  sendReport,
  waitingReport,
} from './report.js';
import { guessTexts, names, oddsTexts } from './screens.js';
import { eraseKey, keyFor, keysKept } from './waves.js';

const FIRST_WAIT = 5_000;
const LONGEST_WAIT = 300_000;
const MINUTE = 60_000;

/** @type {Visit | undefined} */
let visit;

/**
 * Send answers: chance decides now, once.
 * @param {Study} study
 * @param {ReadonlyMap<string, Answer>} answers One for every question.
 * @param {Sending} sending
 */
export async function send(study, answers, sending) {
  if (visit) return;
  const stays = document.querySelector('#stays');
  const keep = stays instanceof HTMLInputElement && stays.checked;
  visit = { study, sending, answers: new Map(answers), body: '', listed: keep, wait: FIRST_WAIT };
  say('sending', sending);
  const asked = study.plan.questions.some(({ channel }) => channel);
  const { key, before } = await keyFor(asked ? study.plan : { ...study.plan, draws: 'fresh' });
  const message = await composeReport(study.plan, study.digest, answers, key);
  visit.body =
    JSON.stringify({ ...message, ...sending.spent?.() }) +
    (sending.padding?.(study.plan, answers) ?? '');
  if (keep) add(lineOf(study, before));
  dropDraft(study); // what waits from now on is the message, and holds no answer that is to be changed
  await leave();
}

/** Send what waited here from an earlier visit; tell whether something did. @param {Study} study @param {Sending} sending */
export async function resume(study, sending) {
  const body = sending.outside?.storage === null ? null : waitingReport(study.digest);
  if (!body) return false;
  const listed = lines().some(({ digest, state }) => digest === study.digest && state === 'unsure');
  visit = { study, sending, answers: new Map(), body, listed, wait: FIRST_WAIT };
  say('sending', sending);
  await leave();
  return true;
}

/** Tell whether a message would be lost if the page were left: not sent, and not kept on this device. */
export const isUnsent = () =>
  Boolean(visit?.body && !visit.over) &&
  (visit?.sending.outside?.storage === null || waitingReport(visit?.study.digest ?? '') === null);

/** Begin the moments at which messages of a study may leave: with the page, before anything is answered. @param {Study} study */
export function begin({ minutes, after }) {
  if (minutes) atMoments(after, (awake) => void (awake ? attempt() : sayWhen()));
}

/** Let the message go: now, or at the next moment. */
async function leave() {
  const { study, sending, answers, body } = /** @type {Visit} */ (visit);
  if (!study.minutes) return attempt();
  linksHidden(true); // what is asked for now would tell how long this took
  say(
    'held',
    sending,
    [keepReport(body, sending.outside?.storage) ? 'kept' : 'unkept', answers.size ? '' : 'found'],
    study,
  );
  sayWhen();
  setInterval(sayWhen, MINUTE / 6);
}

/** Say when the message leaves, by the clock and in minutes. */
function sayWhen() {
  if (!visit?.body || visit.over) return;
  const left = visit.study.after() - sinceLoad();
  const texts = {
    time: new Intl.DateTimeFormat(language(), { timeStyle: 'short', hour12: false }).format(
      Date.now() + left,
    ),
    left: new Intl.RelativeTimeFormat(language()).format(Math.ceil(left / MINUTE), 'minute'),
  };
  document.querySelector('#when')?.replaceChildren(fill('leaves', texts));
}

/** @type {Record<string, (button: HTMLElement) => void>} */
export const actions = {
  now: () => void attempt(),
  erase: () => giveUp(),
  copy: () => void copy(),
  print: () => print(),
  'keep-receipt': (button) => keepReceipt(button),
  'erase-key': () => void forgetKey(),
  'erase-list': () => forgetList(),
};

addEventListener('online', () => {
  if (!visit || visit.study.minutes) return;
  visit.again = visit.busy; // the attempt under way may still fail for having begun offline
  void attempt();
});

/** Send the message, the same one each time; only one attempt at a time. */
async function attempt() {
  if (!visit?.body || visit.busy || visit.over) return;
  const { study, sending, body } = visit;
  clearTimeout(visit.timer);
  Object.assign(visit, { busy: true, again: false });
  const outcome = await sendReport(sending.slug, body, sending.outside);
  visit.busy = false;
  if (visit.over) return; // erased meanwhile
  if (outcome.state === 'later') return void (visit.again ? attempt() : wait(outcome));
  visit.over = true;
  linksHidden(false);
  if (outcome.state === 'accepted') {
    settle(study.digest, { state: 'sent', day: outcome.day });
    await celebrate(outcome);
  } else {
    settle(study.digest, { state: 'refused' });
    sending.refuse(outcome.state, outcome.message);
  }
  sending.done();
  sending.settled?.(study, outcome.state);
}

/** Wait as long as the site asks, and try again by itself: at the next moment, or when the device is online, and less and less often. @param {Later} outcome */
function wait({ why, message, after = 0 }) {
  const { study, sending, answers, wait } = /** @type {Visit} */ (visit);
  if (!document.querySelector('#waiting-why'))
    say('waiting', sending, [answers.size ? 'failed' : 'found']);
  find('#waiting-why').replaceChildren(fill('why', { message }, [why]));
  if (study.minutes) return sayWhen();
  Object.assign(/** @type {Visit} */ (visit), {
    wait: Math.min(2 * wait, LONGEST_WAIT),
    timer: setTimeout(attempt, Math.min(Math.max(wait, after), LONGEST_WAIT)),
  });
}

function giveUp() {
  const { sending, body } = /** @type {Visit} */ (visit);
  /** @type {Visit} */ (visit).over = true;
  linksHidden(false);
  clearTimeout(visit?.timer);
  forgetReport(body);
  sending.refuse('erased');
  sending.done();
}

/** @param {Accepted} accepted */
async function celebrate({ receipt: named, day }) {
  const { study, sending, answers, body, listed } = /** @type {Visit} */ (visit);
  /** @type {Message} */
  const report = JSON.parse(body);
  const pairs = (study.plan.sent ?? study.plan.questions).flatMap((question) => {
    const answer = answerTo(question, answers);
    return answer === undefined ? [] : [{ question, answer, value: report.answers[question.name] }];
  });
  const { draws, slug, wave, waves } = study.plan;
  if (draws === 'kept' && wave === waves) await eraseKey(slug); // no later round needs it
  const keyed = draws !== 'fresh' && (await keysKept()).includes(slug);
  show(
    sent(
      study,
      { receipt: await receiptOf(report.report_id), named, day, body, keyed, listed },
      pairs,
    ),
  );
  sending.title(find('h1').dataset.title ?? '');
  sending.sent();
}

/**
 * @param {Study} study
 * @param {Acknowledged} message
 * @param {Pair[]} pairs Empty when the message waited here from an earlier visit: what was chosen is not stored.
 */
export function sent(study, { receipt, named, day, body, keyed, listed }, pairs) {
  const { plan, checked } = study;
  const all = lines();
  const texts = {
    ...names(study),
    receipt,
    named,
    day: dayText(day, 'full'),
    title: plan.title,
    found: epsilon(checked.found),
    declared: epsilon(checked.declared),
    ...guessTexts(checked),
    count: all.length,
    total: epsilon(together(all)),
    totalGuess: guess(together(all)),
    rounds: guess(powerOf(checked.declared, plan.waves)),
    body: readable(body),
  };
  const flags = [
    pairs.length > 0 ? 'pairs' : 'resent',
    receipt !== named && 'mismatch',
    listed ? 'listed' : 'unlisted',
    all.length > 1 && 'more',
    all.some(({ given }) => given > 0) && 'given',
    keyed ? 'keyed' : 'unkeyed',
  ];
  const screen = fill('sent', texts, flags);
  if (pairs.length) find('ol', screen).append(...pairs.map(pairItem));
  return screen;
}

/** @param {Pair} pair */
export function pairItem({ question, answer, value }) {
  const texts = {
    label: question.label || question.text,
    chosen: answerText(question, answer),
    sent: valueText(question, value),
  };
  if (!question.channel) return fill('pair', texts, ['given', 'asked']);
  const asked = /** @type {DeviceQuestion} */ (question);
  const whose =
    question.asked_if && [answer].flat()[0] === question.choices.length - 1 ? 'unasked' : 'asked';
  const telling = tellingOf(asked);
  if (telling === 'ends')
    return fill('pair', { ...texts, marks: marksOf(asked) }, ['chance', telling, whose]);
  const kept = holds(asked, answer, value);
  const amounts = { ...oddsTexts(asked, answer), options: question.choices.length };
  const item = fill('pair', { ...amounts, ...texts }, [
    'chance',
    telling,
    whose,
    kept ? 'kept' : 'turned',
  ]);
  find('.goes', item).classList.toggle('turned', !kept);
  return item;
}

/**
 * The message without its random number, and the ticket that it is made of: who has that and the database knows which
 * rows are whose, and screens are printed, photographed and copied.
 * @param {string} body
 */
const readable = (body) =>
  JSON.stringify({ ...JSON.parse(body), report_id: undefined, ticket: undefined }, null, 2).replace(
    /\[[^\]]*\]/g,
    (list) => list.replace(/\s+/g, ''),
  );

/** Show a screen and name it in the title. @param {string} id @param {Sending} sending @param {string[]} [flags] @param {Record<string, unknown>} [texts] */
function say(id, sending, flags, texts) {
  show(fill(id, texts, flags));
  sending.title(find('h1').textContent?.trim());
}

async function copy() {
  const said = find('[data-part="copied"]');
  const receipt = find('output').textContent ?? '';
  const done = await navigator.clipboard.writeText(receipt).then(
    () => 'copied',
    () => 'select',
  );
  said.replaceChildren(fill('copied', {}, [done]));
}

/** @param {HTMLElement} button */
function keepReceipt(button) {
  settle(/** @type {Visit} */ (visit).study.digest, {
    receipt: find('output').textContent ?? '',
  });
  button.replaceWith(fill('done', {}, ['receipt']));
}

async function forgetKey() {
  await eraseKey(/** @type {Visit} */ (visit).study.plan.slug);
  replace('#key', 'key');
}

function forgetList() {
  eraseAll();
  replace('#list', 'list');
}

/** Put in place of a part that it is gone; the focus goes there. @param {string} part @param {string} what */
function replace(part, what) {
  const place = find(part);
  place.replaceChildren(fill('done', {}, [what]));
  find('p', place).focus();
}
