/**
 * The respondent's form: which screen comes when. True answers live in `answers`, in the memory of this page, and nowhere
 * else; history holds the number of a screen, storage holds a report that chance has already changed.
 */
import { prepare, randomise } from './channel.js';
import { fetchPlan, linkedDigest, NoPlan } from './plan.js';
import { composeReport, Draws, forgetReport, receiptOf, sendReport, waitingReport } from './report.js';
import * as plainScreens from './screens.js';
import { fill, find, show } from './screens.js';
import { verify } from './verify.js';

const slug = find(document, 'main').dataset.slug ?? '';
const linked = linkedDigest(location.hash);
const baseTitle = document.title;
const organisation = document.querySelector('.eyebrow')?.textContent ?? '';
const studyTitle = find(document, 'h1').textContent ?? '';

/** @type {Map<string, number>} */
const answers = new Map();
let draws = new Draws();
/** @type {Study} */
let study;
/** The message, once it has been composed: from then on only this leaves, and no answer changes. */
let body = '';
/** A page that says no is the last one. */
let over = false;
/** given.js instead, where the page says that something is sent as given. */
let screens = /** @type {Screens} */ (plainScreens);
/** The screen: 0 is the welcome, then the questions, then "Ready to send". */
let place = 0;
const tally = { throws: 0, kept: 0 };

const actions = /** @type {Record<string, (button: HTMLElement) => void>} */ ({
  start: () => go(1),
  back: () => history.back(),
  change: () => go(1),
  throw: () => throwSample(),
  send: () => void send(),
  erase: () => erase(),
  copy: () => void copyReceipt(),
  print: () => print(),
  reload: () => location.reload(),
});

listen();
void begin();

/** Fetch, check, and only then show anything that asks. */
async function begin() {
  history.replaceState({ place: 0 }, '');
  if (!globalThis.crypto?.subtle) return refuse('insecure');
  try {
    const { plan, digest } = await fetchPlan(slug, linked);
    if (find(document, 'main').dataset.words !== 'device') screens = await import('./given.js');
    screens.expectWords?.(plan);
    const checked = verify(plan, screens.verifyGiven);
    await prepare(plan);
    study = { plan, digest, checked, linked: linked !== '' };
  } catch (error) {
    return error instanceof NoPlan ? refuse(error.reason, error.message) : refuse('unsafe', error instanceof Error ? error.message : '');
  }
  body = waitingReport(study.digest) ?? '';
  if (body) show(fill('waiting', {}, ['found']), { focus: false });
  else if ('closed' in find(document, 'main').dataset) refuse('closed');
  else render(0, false);
}

function listen() {
  addEventListener('popstate', ({ state }) => {
    if (study && !body && !over) render(reachable(state?.place ?? 0));
  });
  addEventListener('hashchange', () => linkedDigest(location.hash) !== linked && location.reload());
  // A page kept for the back button would show answers to whoever presses it.
  addEventListener('pagehide', () => find(document, 'main').replaceChildren());
  addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
  addEventListener('click', (event) => {
    const target = event.target instanceof Element ? event.target.closest('[data-do], .skip') : null;
    if (!(target instanceof HTMLElement)) return;
    if (target.dataset.do) return actions[target.dataset.do]?.(target);
    event.preventDefault(); // "#main" would take the fingerprint's place in the address
    find(document, 'main').focus();
  });
  addEventListener('input', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.name !== 'answer') return;
    const asked = study.plan.questions[place - 1];
    const answer = (screens.read ?? Number)(target.value, asked);
    answers.set(asked.name, answer);
    if (isNaN(answer)) answers.delete(asked.name);
    find(document, '#error').hidden = true;
  });
  addEventListener('submit', (event) => {
    event.preventDefault();
    proceed();
  });
}

/** Go on from a question: chance decides now, once. */
function proceed() {
  const question = study.plan.questions[place - 1];
  const answer = answers.get(question.name);
  if (answer === undefined) return complain();
  draws.draw(question, answer);
  go(place + 1);
}

function complain() {
  const error = find(document, '#error');
  error.hidden = false;
  find(document, 'fieldset').setAttribute('aria-describedby', 'error');
  find(document, '#answers input').focus();
}

/** @param {number} to */
function go(to) {
  history.pushState({ place: to }, '');
  render(to);
}

/** Return the place asked for, or an earlier question without an answer. @param {number} wanted */
function reachable(wanted) {
  const open = study.plan.questions.findIndex(({ name }) => !answers.has(name));
  return open < 0 ? wanted : Math.min(wanted, open + 1);
}

/** @param {number} to @param {boolean} [focus] */
function render(to, focus = true) {
  const { plan } = study;
  place = to;
  const asked = plan.questions[to - 1];
  if (asked) {
    show(screens.question(plan, to - 1, answers.get(asked.name)));
    title(`Question ${to} of ${plan.questions.length}`);
  } else if (to === 0) {
    show(screens.welcome(study), { wide: true, focus });
    title();
  } else {
    show(screens.ready(plan));
    title('Ready to send');
    throwSample();
  }
}

/** @param {string} [screen] */
function title(screen) {
  document.title = screen ? `${screen} · ${baseTitle}` : baseTitle;
}

/** Throw for the example answer, apart from the respondent's own. */
function throwSample() {
  const first = study.plan.questions.find(({ channel }) => channel);
  if (!first?.channel) return;
  const example = screens.exampleOf(first);
  const drawn = randomise(example, first.channel);
  tally.throws += 1;
  tally.kept += Number([drawn].flat().includes(example));
  screens.showThrow(find(document, 'main'), first, drawn, tally);
}

/** Send the message; only the first time, compose it. */
async function send() {
  body ||= JSON.stringify(composeReport(study.plan, study.digest, answers, draws)) + (screens.padding?.(study.plan, answers) ?? '');
  show(fill('sending'));
  title('Sending');
  const outcome = await sendReport(slug, body, screens.outside);
  if (outcome.state === 'accepted') return celebrate(outcome);
  if (outcome.state !== 'later') return refuse(outcome.state, outcome.message);
  show(fill('waiting', { message: outcome.message }, ['failed']));
  title('Not sent yet');
}

/** @param {Accepted} accepted */
async function celebrate({ receipt: named, day }) {
  /** @type {Message} */
  const report = JSON.parse(body);
  const pairs = study.plan.questions.flatMap((question) => {
    const answer = answers.get(question.name);
    return answer === undefined ? [] : [{ question, answer, value: report.answers[question.name] }];
  });
  forgetAnswers();
  show(screens.sent(study, { receipt: await receiptOf(report.report_id), named, day, body }, pairs));
  title('Sent');
}

function erase() {
  forgetReport(body);
  refuse('erased');
}

async function copyReceipt() {
  const said = find(document, '[data-part="copied"]');
  const receipt = find(document, 'output').textContent ?? '';
  said.textContent = await navigator.clipboard.writeText(receipt).then(() => 'Copied', () => 'Select it above to copy it');
}

function forgetAnswers() {
  answers.clear();
  draws = new Draws();
}

/**
 * Say no, and what to do now.
 * @param {string} reason
 * @param {string} [details] Names no value.
 */
function refuse(reason, details = '') {
  forgetAnswers();
  const contact = study?.plan.contact ?? '';
  const texts = { organisation, title: studyTitle, details, contact };
  const detailed = ['fingerprint', 'unsafe', 'conflict', 'malformed'].includes(reason);
  show(fill('refusal', texts, [reason, detailed && details !== '' && 'details', contact !== '' && 'contact']));
  const results = document.querySelector('#results');
  if (results instanceof HTMLAnchorElement) results.href = `/registry/${encodeURIComponent(slug)}/`;
  title(find(document, 'h1').innerText.trim());
  over = true;
}
