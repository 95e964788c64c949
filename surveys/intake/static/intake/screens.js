/** What the respondent sees, one function a screen. Words are in templates/intake/, numbers in the Plan; a study's texts go in as text, never as HTML. */
import { blindShare, decimal, epsilon, guessShare, luckShare, ofHundred, ownShare, shownOrder, strength, tellingOf, togetherShare, told } from './odds.js';

/** The answer that stands for everyone's in examples, whatever this respondent's is. @param {Question} question */
export const exampleOf = ({ kind }) => (kind === 'yes_no' ? 1 : 0);

/** @param {DeviceStudy} study */
export function welcome({ plan, digest, checked, linked }) {
  const [first] = plan.questions;
  const most = mostTelling(checked);
  const count = plan.questions.length;
  const screen = fill(
    'welcome',
    {
      ...oddsTexts(first, exampleOf(first)),
      organisation: plan.organisation,
      title: plan.title,
      purpose: plan.purpose,
      count,
      minutes: minutes(count),
      guess: bound(guessShare(first.channel)),
      blind: told(blindShare(first.channel)),
      mostNumber: checked.questions[most].number,
      mostGuess: bound(guessShare(plan.questions[most].channel)),
      surest: bound(Math.max(...plan.questions.map(({ channel }) => guessShare(channel)))),
      mostBlind: told(blindShare(plan.questions[most].channel)),
      together: bound(togetherShare(checked.declared)),
    },
    [tellingOf(first.channel), count > 1 ? 'many' : 'one', linked ? 'linked' : 'unlinked', plan.questions.some(({ channel }) => strength(channel) > 0.9) ? 'sure' : 'unsure', most > 0 && 'stronger'],
  );
  drawArray(screen, ofHundred(ownShare(first.channel, exampleOf(first))));
  find(screen, '#facts').append(...facts(checked), fill('fingerprint', { digest: digest.replace(/(.{4})(?=.)/g, '$1 ') }));
  return screen;
}

/** @param {number} count Of questions. */
export const minutes = (count) => Math.max(2, Math.ceil((45 + 20 * count) / 60));

/** @param {Plan} plan @param {number} index @param {number | undefined} chosen */
export function question(plan, index, chosen) {
  const asked = /** @type {DeviceQuestion} */ (plan.questions[index]);
  const screen = frame(plan, index, oddsTexts(asked, exampleOf(asked)), oddsFlags(asked));
  find(screen, '#answers').append(...answerGroups(asked, chosen));
  return screen;
}

/** Return a question's screen without its answers. @param {Plan} plan @param {number} index @param {object} texts @param {(string | false)[]} flags */
export function frame({ questions }, index, texts, flags) {
  const { text, help, choices, decline } = questions[index];
  const [number, count] = [index + 1, questions.length];
  const screen = fill('question', { ...texts, number, count, text, help, declined: choices[choices.length - 1] }, [...flags, help !== '' && 'help', decline === 1 && 'decline']);
  const progress = /** @type {HTMLProgressElement} */ (find(screen, 'progress'));
  progress.max = count;
  progress.value = number;
  return screen;
}

/** @param {DevicePlan} plan */
export function ready({ questions }) {
  const [first] = questions;
  const texts = { ...oddsTexts(first, exampleOf(first)), count: questions.length };
  return fill('ready', texts, [questions.length > 1 ? 'many' : 'one', ...reportFlags(first)]);
}

/**
 * Show one sample draw for the example answer, and how the draws have gone so far.
 * @param {ParentNode} screen
 * @param {Question} first
 * @param {Value} drawn
 * @param {Tally} tally
 */
export function showThrow(screen, first, drawn, tally) {
  put(screen, { drawn: valueText(first, drawn), ...tally });
  find(screen, '[data-part="goes"]').classList.toggle('turned', !holds(drawn, exampleOf(first)));
}

/**
 * @param {Study} study
 * @param {Acknowledged} message
 * @param {Pair[]} pairs Empty when the message waited here from an earlier visit: what was chosen is not stored.
 * @param {(pair: Pair) => DocumentFragment} [item]
 */
export function sent({ plan, checked }, { receipt, named, day, body }, pairs, item = pairItem) {
  const texts = {
    receipt,
    named,
    day: dayText(day, plan.language),
    title: plan.title,
    found: epsilon(checked.found),
    declared: epsilon(checked.declared),
    body: readable(body),
  };
  const screen = fill('sent', texts, [pairs.length > 0 ? 'pairs' : 'resent', receipt !== named && 'mismatch']);
  const path = `/api/v1/receipts/${receipt}`;
  const lookup = /** @type {HTMLAnchorElement} */ (find(screen, '#lookup'));
  lookup.href = path;
  lookup.textContent = location.host + path;
  if (pairs.length) find(screen, 'ol').append(...pairs.map(item));
  return screen;
}

/** @param {string} body */
const readable = (body) => JSON.stringify(JSON.parse(body), null, 2).replace(/\[[^\]]*\]/g, (list) => list.replace(/\s+/g, ''));

/** Return an upper bound in words. @param {number} share */
const bound = (share) => (share > 0.995 ? 'more than 99' : `about ${ofHundred(share)}`);

/** @param {Pair} pair */
export function pairItem({ question, answer, value }) {
  const asked = /** @type {DeviceQuestion} */ (question);
  const kept = holds(value, answer);
  const texts = {
    ...oddsTexts(asked, answer),
    label: asked.label || asked.text,
    chosen: asked.choices[answer],
    sent: valueText(asked, value),
  };
  const sure = strength(asked.channel);
  const item = fill('pair', texts, [kept ? 'kept' : 'turned', ...reportFlags(asked), sure <= 0.75 ? 'nothing' : sure <= 0.9 && 'little']);
  find(item, '[data-part="goes"]').classList.toggle('turned', !kept);
  return item;
}

/** @param {DeviceQuestion} asked @param {number} answer For whom the odds are told. */
function oddsTexts({ choices, channel }, answer) {
  const opposite = answer === 0 ? 1 : 0;
  const every = choices.map((_, index) => ownShare(channel, index));
  const own = every[answer];
  return {
    example: choices[answer],
    own: told(own),
    rest: rest(own),
    opposite: choices[opposite],
    oppositeOwn: told(every[opposite]),
    oppositeRest: rest(every[opposite]),
    least: told(Math.min(...every)),
    most: told(Math.max(...every)),
    others: choices.length - 1,
    each: told((1 - own) / (choices.length - 1)),
    luck: told(luckShare(channel)),
    choices: choices.length,
    size: channel.kind === 'subset' ? channel.size : 1,
  };
}

/** @param {number} own */
const rest = (own) => (own > 0.995 ? '<1' : 100 - ofHundred(own));

/** @param {DeviceQuestion} asked */
function oddsFlags(asked) {
  const { rest, each, others } = oddsTexts(asked, exampleOf(asked));
  return [tellingOf(asked.channel), rest !== Number(each) * others && 'about'];
}

/** @param {DeviceQuestion} asked */
const reportFlags = ({ channel }) => [tellingOf(channel) === 'several' ? 'several' : 'one-report'];

/** @param {Value} value @param {number} answer */
const holds = (value, answer) => (Array.isArray(value) ? value.includes(answer) : value === answer);

/** @param {Question} asked @param {Value} value */
const valueText = ({ choices }, value) => [value].flat().map((choice) => choices[choice]).join('\n');

/** Return the index of the question that tells most, by a hundredth or more. @param {Checked} checked */
function mostTelling({ questions }) {
  const losses = questions.map(({ found }) => found);
  return losses.reduce((best, loss, index) => (100n * loss[0] * losses[best][1] > 101n * losses[best][0] * loss[1] ? index : best), 0);
}

/** @param {Checked} checked */
function facts({ questions, declared, found }) {
  const rows = questions.map((question) => fact(question, 'question'));
  return questions.length > 1 ? [...rows, fact({ declared, found }, 'together')] : rows;
}

/** @param {Losses} loss @param {string} which */
function fact({ declared, found, number }, which) {
  const [top, bottom] = found;
  const short = bottom > 1n && `${top}${bottom}`.length < 24;
  return fill('fact', { number, declared: decimal(declared), found: decimal(found), top, bottom }, [which, short && 'short']);
}

/** Dots for the people whose answer stays, rings for the rest. @param {ParentNode} screen @param {number} own */
function drawArray(screen, own) {
  const rects = screen.querySelectorAll('.array > rect');
  const full = Math.floor(own / 10) * 20;
  const part = (own % 10) * 20;
  const places = [[0, 0, 200, full], [0, full, part, 20], [part, full, 200 - part, 20], [0, full + 20, 200, 180 - full]];
  rects.forEach((rect, index) => {
    ['x', 'y', 'width', 'height'].forEach((name, side) => rect.setAttribute(name, String(places[index][side])));
  });
}

/** Most letters that fit on a track: points × (longest word + 2). */
const TRACK = 76;

/** @param {Question} asked @param {number | undefined} chosen */
export function answerGroups(asked, chosen) {
  const order = shownOrder(asked);
  const points = order.length - asked.decline;
  const longest = Math.max(...asked.choices.slice(0, points).flatMap((choice) => choice.split(/\s/)).map((word) => word.length));
  const onTrack = asked.kind === 'likert' && points * (longest + 2) <= TRACK;
  const groups = onTrack ? [order.slice(0, points), order.slice(points)] : [order];
  return groups
    .filter((group) => group.length > 0)
    .map((group, index) => {
      const list = document.createElement('div');
      list.className = onTrack && index === 0 ? 'likert' : 'choices';
      list.append(...group.map((choice) => choiceCard(asked, choice, chosen)));
      return list;
    });
}

/** @param {Question} asked @param {number} choice @param {number | undefined} chosen */
function choiceCard(asked, choice, chosen) {
  const card = fill('choice', { choice: asked.choices[choice] });
  const input = /** @type {HTMLInputElement} */ (find(card, 'input'));
  input.value = String(choice);
  input.checked = choice === chosen;
  return card;
}

/** @param {string} day As YYYY-MM-DD. @param {string} language */
function dayText(day, language) {
  const date = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(date.getTime())) return day;
  return new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, { dateStyle: 'full', timeZone: 'UTC' }).format(date);
}

/**
 * Return a fresh copy of a template: only the parts whose data-when names one of the flags, with their texts put in.
 * @param {string} id
 * @param {Record<string, unknown>} [texts] By data-put.
 * @param {Iterable<string | false>} [flags]
 */
export function fill(id, texts = {}, flags = []) {
  const template = document.getElementById(id);
  if (!(template instanceof HTMLTemplateElement)) throw new Error(`page: expected a template ${id}`);
  const copy = document.importNode(template.content, true);
  const holds = new Set(flags);
  for (const part of copy.querySelectorAll('[data-when]'))
    if (!String(part.getAttribute('data-when')).split(' ').some((flag) => holds.has(flag))) part.remove();
  put(copy, texts);
  return copy;
}

/** @param {ParentNode} root @param {Record<string, unknown>} texts */
export function put(root, texts) {
  for (const [name, text] of Object.entries(texts))
    for (const part of root.querySelectorAll(`[data-put="${name}"]`)) part.textContent = String(text);
}

/**
 * Return the element that a selector names.
 * @param {ParentNode} root
 * @param {string} selector
 * @returns {HTMLElement}
 */
export function find(root, selector) {
  const part = root.querySelector(selector);
  if (!(part instanceof HTMLElement)) throw new Error(`page: expected ${selector}`);
  return part;
}

/**
 * Show one screen; its heading takes the focus.
 * @param {DocumentFragment} screen
 * @param {{ wide?: boolean, focus?: boolean }} [how]
 */
export function show(screen, { wide = false, focus = true } = {}) {
  const main = find(document, 'main');
  main.className = wide ? 'wide' : 'column';
  main.replaceChildren(screen);
  scrollTo(0, 0);
  if (focus) find(main, 'h1').focus({ preventScroll: true });
}
