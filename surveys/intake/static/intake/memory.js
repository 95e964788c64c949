/**
 * What this device remembers before sending. Real answers only if the respondent ticks the box that asks for it, for a
 * day, and in plain sight; erased when they are sent. And, from the statement, that this study was answered here before.
 */
import { dayText, deviceStorage, guess, lines, together } from './device_ledger.js';
import { epsilon } from './odds.js';
import { fill, find } from './page.js';
import { keysKept } from './waves.js';

const HOURS = 24;
const PREFIX = 'candor.draft.';
const nameOf = (/** @type {Study} */ { digest }) => PREFIX + digest;

eraseExpired();

/** Return the answers that were kept here for this Plan; null if none. @param {Study} study */
export function restore(study) {
  const draft = read(nameOf(study));
  return draft && new Map(draft.answers);
}

/** Keep the answers so far: only if it was asked for. @param {Study} study @param {ReadonlyMap<string, Answer>} answers */
export function keep(study, answers) {
  if (read(nameOf(study))) write(study, answers);
}

/** @param {Study} study */
export const dropDraft = (study) => deviceStorage()?.removeItem(nameOf(study));

/** Return the unfinished forms on this device, by the names they are kept under. @returns {[string, Draft][]} */
export const drafts = () =>
  Object.keys(deviceStorage() ?? {})
    .filter((name) => name.startsWith(PREFIX))
    .flatMap((name) => {
      const draft = read(name);
      return draft ? [[name, draft]] : [];
    });

const before = (/** @type {Study} */ { plan }) => lines().filter(({ slug }) => slug === plan.slug);

/** Whether the key of an earlier round is still here: known before the welcome is shown, so that what it says is there
 * when Start can be pressed. */
let keyed = false;

/** @param {Study} study */
export async function recall(study) {
  keyed = study.plan.draws !== 'fresh' && (await keysKept()).includes(study.plan.slug);
}

/** Say on the welcome what this device remembers, and offer to keep an unfinished form. @param {Study} study */
export function greet(study) {
  const place = find('#keep');
  const earlier = before(study);
  place.replaceChildren(...offer(study));
  find('#before').replaceChildren(...remembered(study, earlier));
  place.onchange = ({ target }) =>
    target instanceof HTMLInputElement &&
    target.id === 'go-on-later' &&
    choose(study, target.checked);
}

/** @type {Record<string, (button: HTMLElement) => void>} */
export const actions = {
  forget({ dataset }) {
    deviceStorage()?.removeItem(String(dataset.name));
    location.reload();
  },
};

/** Say what is known here of earlier rounds; of a key without a line, only that it is used. @param {Study} study @param {Line[]} earlier */
function remembered(study, earlier) {
  if (earlier.length) return [warning(study, earlier)];
  return keyed ? [fill('keyed')] : [];
}

/** @param {Study} study @param {Line[]} earlier */
function warning({ plan, digest, checked }, earlier) {
  const last = earlier[earlier.length - 1];
  const after = /** @type {Ratio} */ (
    together(earlier).map((part, side) => part * checked.found[side])
  );
  const texts = {
    day: dayText(last.day),
    was: guess(together(earlier)),
    becomes: guess(after),
    epsilon: epsilon(checked.found),
    total: epsilon(after),
  };
  const changed = plan.questions.some(({ channel }) => channel);
  const same = earlier.some((line) => line.digest === digest);
  return fill('answered', texts, [
    same ? 'same' : 'other',
    changed && (keyed ? 'keyed' : 'unkeyed'),
    changed && 'changed',
  ]);
}

/** @param {Study} study */
function offer(study) {
  if (!deviceStorage()) return [];
  const draft = read(nameOf(study));
  const until = draft ? new Date(draft.until) : inADay();
  const found = draft?.answers.length;
  const screen = fill('later', { until: moment(until), name: nameOf(study) }, [
    found ? 'found' : 'offered',
  ]);
  const box = screen.querySelector('#go-on-later');
  if (box instanceof HTMLInputElement) box.checked = Boolean(draft);
  return [screen];
}

/** @param {Study} study @param {boolean} wanted */
function choose(study, wanted) {
  if (wanted) write(study, new Map());
  else dropDraft(study);
}

/** @param {Study} study @param {ReadonlyMap<string, Answer>} answers */
function write(study, answers) {
  try {
    const draft = { title: study.plan.title, until: inADay().toISOString(), answers: [...answers] };
    deviceStorage()?.setItem(nameOf(study), JSON.stringify(draft));
  } catch {} // full: the page still has them
}

/** @param {string} name @returns {Draft | null} */
function read(name) {
  try {
    const draft = JSON.parse(deviceStorage()?.getItem(name) ?? 'null');
    return Array.isArray(draft?.answers) && draft.until > new Date().toISOString() ? draft : null;
  } catch {
    return null;
  }
}

function eraseExpired() {
  const storage = deviceStorage();
  for (const name of Object.keys(storage ?? {}))
    if (name.startsWith(PREFIX) && !read(name)) storage?.removeItem(name);
}

const inADay = () => new Date(Date.now() + HOURS * 3_600_000);

/** @param {Date} at */
export function moment(at) {
  const { lang } = document.documentElement;
  return new Intl.DateTimeFormat(lang === 'en' ? 'en-GB' : lang, {
    dateStyle: 'long',
    timeStyle: 'short',
  }).format(at);
}
