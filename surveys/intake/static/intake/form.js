/**
 * The respondent's form: which screen comes when. True answers live in `answers`, in the memory of this page; history holds
 * the number of a screen. What leaves, and what stays on this device if it is asked for, is in receipt.js and memory.js.
 */
import { askedOf, complete, openOf, placeFrom, reachable, screensOf } from './branches.js';
import { inputOf, prepare, randomise } from './channels.js';
import { expect } from './expect.js';
import { readAnswer, settleTicks } from './inputs.js';
import * as memory from './memory.js';
import { every, minutesBetween, passesOver } from './moments.js';
import { fill, find, linksHidden, show, word } from './page.js';
import { fetchPlan, linkedDigest, NoPlan } from './plan.js';
import * as receipt from './receipt.js';
import * as screens from './screens.js';
import { expectTexts, inLanguage } from './texts.js';
import { verify } from './verify.js';

const page = {
  slug: '',
  language: 'en',
  words: '',
  over: '',
  earlier: '',
  ...find('main').dataset,
};
const LETTER = /^#[0-9a-f]{64}\.(\d{1,2})\.([\w-]{22})$/i;
const linked = linkedDigest(location.hash);
const baseTitle = document.title;
const organisation = document.querySelector('.eyebrow')?.textContent ?? '';
const studyTitle = find('h1').textContent ?? '';
const languages = document.querySelector('.langs');

/** @type {Map<string, Answer>} */
const answers = new Map();
/** @type {Study} */
let study;
/**
 * What the page knows beside: cleartext.js, where it says that something is sent in the clear; invited.js, where it asks a list of
 * people. @type {Partial<typeof import('./cleartext.js') & typeof import('./invited.js')>}
 */
const more = {};
/** @type {(question: Question) => Node[]} */
let pictures = () => [];
/** Once something is sent or refused, no screen comes back. */
let over = false;
/** Whether answers were sent: the history remembers it of each entry that one goes back to, and nothing else does. */
let isSent = false;
/** The screen: 0 is the welcome, then the questions, then "Ready to send". */
let place = 0;
const tally = { throws: 0, kept: 0 };

const actions = /** @type {Record<string, (button: HTMLElement) => void>} */ ({
  start: () => go(reachable(study.plan, Infinity, answers)),
  back: () => history.back(),
  change: () => go(1),
  throw: () => throwSample(),
  send: () => send(),
  goto: (link) =>
    find(`[data-question="${link.getAttribute('href')?.slice(1)}"] :is(input, select)`).focus(),
  reload: () => location.reload(),
  again: () => startAgain(),
  ...memory.actions,
  forget: (button) => (answers.clear(), memory.actions.forget(button)),
  ...receipt.actions,
});

listen();
void begin();

/** Fetch, check, and only then show anything that asks. */
async function begin() {
  const { sent } = history.state ?? {};
  for (const link of languages?.querySelectorAll('a') ?? []) link.hash = location.hash; // the fingerprint goes along
  takeLetter();
  if (!globalThis.crypto?.subtle) return refuse('insecure');
  try {
    await prepareStudy();
  } catch (error) {
    if (!(error instanceof NoPlan))
      return refuse('unsafe', error instanceof Error ? error.message : '');
    const foreign = error.reason === 'fingerprint';
    if (foreign) history.replaceState({ place: 0 }, ''); // its letter opens nothing here
    const old = foreign && page.earlier.split(' ').includes(linked);
    return refuse(old ? 'expired' : error.reason, error.message);
  }
  if (await receipt.resume(study, sending())) over = true;
  else if (sent === study.digest) showSent();
  else await open();
}

async function open() {
  if (page.over) refuse(page.over);
  else await greet();
}

/** Remember in the history that answers were sent from here: not which. */
function markSent() {
  isSent = true;
  history.replaceState({ ...history.state, sent: study.digest }, '');
}

/** Say that answers were sent from here before: what they were is in no memory. */
function showSent() {
  over = isSent = true;
  show(fill('sent-before', {}, ['issuer' in page ? 'invited' : 'open']));
  title(find('h1').textContent?.trim());
}

/** Begin anew on a page from which answers were sent, for somebody else. */
function startAgain() {
  over = isSent = false;
  history.replaceState({ place: 0 }, '');
  void open();
}

/**
 * Take what stands behind a letter's fingerprint out of the address, before anything can fail: whoever sees the address,
 * or the browser's history, could answer in that person's place. It stays in this entry of the history, for a reload.
 */
function takeLetter() {
  const [, stratum, code] = LETTER.exec(location.hash) ?? [];
  const letter = code ? { stratum: Number(stratum), code } : history.state?.letter;
  const address = location.href.replace(/(#[^.]*).*/, '$1');
  history.replaceState({ ...history.state, place: 0, letter }, '', address);
}

async function prepareStudy() {
  const { plan, digest } = /** @type {{ plan: Plan, digest: string }} */ (
    await fetchPlan(page.slug, linked)
  );
  if (page.words.includes('publication')) Object.assign(more, await import('./cleartext.js'));
  const drawing = page.words.includes('drawn') ? await import('./drawn.js') : undefined;
  if ('issuer' in page) Object.assign(more, await import('./invited.js'));
  await prepare(plan);
  const checked = verify(more.open?.(plan) ?? plan, more.verify, drawing?.verify);
  expectWords(plan);
  if (plan.questions.some((question) => question.picture)) await preparePictures(plan);
  const read = inLanguage(plan, page.language);
  expectTexts(read);
  const readers = more.readersShare?.(plan) ?? 0;
  const minutes = minutesBetween(plan);
  study = {
    ...((await drawing?.asked(read, checked)) ?? { plan: read, checked }),
    all: plan.questions.length,
    digest,
    linked: linked !== '',
    minutes,
    after: every(minutes),
    readers,
    ...more.joined?.(plan),
  };
  receipt.begin(study);
}

/** Refuse a Plan that this page's words are not true of: one that has come since the page was made. @param {Plan} plan */
function expectWords({ questions, blocks, drawn, draws, wave, waves }) {
  const found = questions.map(({ protection }) => protection);
  const counts = [...new Set(found)]
    .sort()
    .map((name) => `${name}-${found.filter((other) => other === name).length}`);
  const skips = passesOver({ questions, blocks });
  const round = draws && `${draws}-${wave}-of-${waves}`;
  const said = [...counts, skips && 'skips', drawn && 'drawn', round].filter(Boolean).join(' ');
  expect(said === page.words, 'page', `words for ${said}; reload it`, page.words);
}

/** @param {Plan} plan */
async function preparePictures(plan) {
  const { drawn, fetchPictures } = await import('./pictures.js');
  const fetched = await fetchPictures(plan);
  pictures = (/** @type {Question} */ { picture }) => {
    const bitmap = picture && fetched.get(picture.sha256);
    return bitmap ? [drawn(picture, bitmap)] : [];
  };
}

async function greet() {
  const anew = () => {
    over = false;
    render(0);
  };
  over = !!(await more.isAway?.(study, actions, anew)); // nothing is asked, whatever the address becomes
  if (over) return;
  await memory.recall(study);
  for (const [name, answer] of memory.restore(study) ?? []) answers.set(name, answer);
  render(0, false);
}

function listen() {
  addEventListener('popstate', ({ state }) => {
    if (isSent) history.replaceState({ ...state, sent: study.digest }, '');
    if (!study || over) return;
    const wanted = state?.place ?? 0;
    const found = reachable(study.plan, wanted, answers);
    if (wanted < place && found > wanted)
      history.back(); // a screen that was passed over
    else render(found);
  });
  addEventListener('hashchange', () => {
    const isAnother = linkedDigest(location.hash) !== linked || location.hash.includes('.');
    if (isAnother) location.reload(); // of a letter, or another Plan
  });
  addEventListener('beforeunload', (event) => {
    const isLost = over ? receipt.isUnsent() : answers.size > 0 && !memory.restore(study);
    if (isLost) event.preventDefault(); // the browser asks
  });
  // A page kept for the back button would show answers to whoever presses it.
  addEventListener('pagehide', () => find('main').replaceChildren());
  addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
  addEventListener('click', (event) => {
    const target = event.target instanceof Element && event.target.closest('[data-do], .skip');
    if (!(target instanceof HTMLElement)) return;
    if (target instanceof HTMLAnchorElement) event.preventDefault(); // "#main" would take the fingerprint's place in the address
    if (target.dataset.do) actions[target.dataset.do]?.(target);
    else find('main').focus();
  });
  addEventListener('input', ({ target }) => target instanceof Element && take(target));
  addEventListener('submit', (event) => {
    if (event.target instanceof HTMLFormElement && event.target.method === 'post') return; // a receipt is looked up
    event.preventDefault();
    proceed();
  });
}

/** Take what a field says now; what is no answer is none, so that what counts is what is seen. @param {Element} target */
function take(target) {
  const fields = target.closest('[data-question]');
  const question = study?.plan.questions.find(
    ({ name }) => fields instanceof HTMLElement && name === fields.dataset.question,
  );
  if (!fields || !question) return;
  if (question.kind === 'multiple')
    settleTicks(fields, /** @type {HTMLInputElement} */ (target), question);
  const answer = readAnswer(fields, question);
  if (answer === undefined) answers.delete(question.name);
  else answers.set(question.name, answer);
  complain(fields, false);
  follow();
}

/** Show the questions of this screen that are asked now, and say which came or went. */
function follow() {
  const indices = screensOf(study.plan)[place - 1];
  const asked = askedOf(study.plan, indices, answers);
  const news = indices.flatMap((index) => {
    const { name, text } = study.plan.questions[index];
    const fields = find(`[data-question="${name}"]`);
    if (fields.hidden !== asked.includes(index)) return [];
    fields.hidden = !fields.hidden;
    return [word(fields.hidden ? 'gone' : 'added', { text })];
  });
  if (news.length) find('#news').textContent = news.join(' ');
}

/** Go on from a screen, if all it asks is answered. */
function proceed() {
  const screen = screensOf(study.plan)[place - 1];
  const open = openOf(study.plan, screen, answers).map((index) => study.plan.questions[index]);
  for (const index of screen) {
    const question = study.plan.questions[index];
    complain(find(`[data-question="${question.name}"]`), open.includes(question));
  }
  find('#summary').replaceChildren();
  if (open.length) return point(open, screen.length > 1);
  memory.keep(study, answers);
  go(placeFrom(study.plan, place + 1, answers));
}

/** Lead to what is missing: to the field, or to a list of them. @param {Question[]} open @param {boolean} several */
function point(open, several) {
  if (!several) return find('#questions :is(input, select)').focus();
  const list = fill('errors');
  find('ul', list).append(...open.map(({ name, text }) => fill('error-link', { name, text })));
  find('#summary').replaceChildren(list);
  find('.errors').focus();
}

/** @param {Element} fields @param {boolean} wrong */
function complain(fields, wrong) {
  const error = find('.error', fields);
  error.hidden = !wrong;
  const help = fields.querySelector('[id^="help-"]');
  fields.setAttribute('aria-describedby', [help?.id, wrong && error.id].filter(Boolean).join(' '));
  for (const input of fields.querySelectorAll('.input, [type="checkbox"]'))
    input.setAttribute('aria-invalid', String(wrong));
}

/** The browser's history gets every screen, those that are passed over too: it must not tell which way someone went. @param {number} to */
function go(to) {
  for (let at = to > place ? place + 1 : to; at <= to; at += 1)
    history.pushState({ place: at }, '');
  render(to);
}

/** @param {number} to @param {boolean} [focus] */
function render(to, focus = true) {
  const { plan } = study;
  place = to;
  languages?.toggleAttribute('hidden', to > 0);
  linksHidden(to > 0 && study.minutes > 0);
  const indices = screensOf(plan)[to - 1];
  if (indices) {
    show(screens.asking(study, indices, answers, pictures), { focus });
    title(word('page')); // which question it is would stay in the browser's history
  } else if (to === 0) {
    show(screens.welcome(study, answers.size > 0), { wide: true, focus });
    title();
    memory.greet(study);
    more.greet?.();
  } else {
    show(screens.ready(study));
    title(word('ready'));
    throwSample();
  }
}

/** @param {string} [screen] */
function title(screen) {
  document.title = screen ? `${screen} · ${baseTitle}` : baseTitle;
}

/** Throw for the example answer, apart from the respondent's own. */
function throwSample() {
  const first = screens.firstChanged(study.plan);
  if (first)
    screens.showThrow(
      find('main'),
      first,
      randomise(first, inputOf(first, screens.exampleOf(first))),
      tally,
    );
}

function send() {
  over = true;
  void receipt.send(study, complete(study.plan, answers), sending());
}

/** @returns {Sending} */
const sending = () => ({
  slug: page.slug,
  title,
  refuse,
  done: () => answers.clear(),
  sent: markSent,
  ...more,
});

/**
 * Say no, and what to do now.
 * @param {string} reason
 * @param {string} [details] Names no value.
 */
function refuse(reason, details = '') {
  over = true;
  answers.clear();
  const contact = study?.plan.contact ?? '';
  const texts = { organisation, title: studyTitle, slug: page.slug, details, contact };
  show(fill('refusal', texts, [reason, details && `${reason}-why`, contact && 'contact']));
  title(find('h1').innerText.trim());
}
