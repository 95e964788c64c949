/** My privacy statement: shows what this device remembers, adds it up, and erases it. Sends nothing. */
import {
  dayText,
  deviceStorage,
  erase,
  eraseAll,
  guess,
  lines,
  together,
} from './device_ledger.js';
import { draws, forgetDraw } from './drawn.js';
import { drafts, moment } from './memory.js';
import { atMost, epsilon, factor } from './odds.js';
import { fill, find, word } from './page.js';
import { forgetReport, waitingReports } from './report.js';
import * as tickets from './tickets.js';
import { eraseKey, eraseKeys, keysKept } from './waves.js';

const SURE = [10, 50, 90]; // of 100, before

/** What was erased, by the button's data. @type {Record<string, (data: DOMStringMap) => unknown>} */
const actions = {
  print: () => print(),
  'erase-line': ({ line }) => eraseLine(Number(line)),
  'erase-key': ({ slug }) => eraseKey(String(slug)),
  'erase-draft': ({ name }) => deviceStorage()?.removeItem(String(name)),
  'erase-draw': ({ slug }) => forgetDraw(String(slug)),
  'erase-ticket': ({ name }) => tickets.forget(String(name)),
  'erase-message': ({ place }) => forgetReport(waitingReports()[Number(place)]),
  'erase-everything': () => eraseEverything(),
};

addEventListener('click', ({ target }) => {
  const button = target instanceof Element ? target.closest('button[data-do]') : null;
  if (button instanceof HTMLButtonElement) void act(button.dataset);
});
addEventListener('storage', () => void render()); // another tab has sent, or erased
void render();

/** @param {DOMStringMap} data */
async function act(data) {
  const what = String(data.do);
  await actions[what](data);
  if (!what.startsWith('erase-')) return;
  await render();
  find('#said').textContent = word(what.slice('erase-'.length));
  find('main').focus();
}

/** A study's key goes with its last line: nothing else would say that it was there. @param {number} place */
async function eraseLine(place) {
  const all = lines();
  const line = all[place];
  if (!line) return;
  erase(line);
  if (all.filter(({ slug }) => slug === line.slug).length === 1) await eraseKey(line.slug);
}

async function eraseEverything() {
  for (const [name] of drafts()) deviceStorage()?.removeItem(name);
  for (const body of waitingReports()) forgetReport(body);
  for (const slug of draws()) forgetDraw(slug);
  for (const digest of tickets.digestsKept()) tickets.forget(digest);
  eraseAll();
  await eraseKeys();
}

async function render() {
  const all = lines();
  const keys = await keysKept();
  const others = [
    ...drafts().map(draftItem),
    ...waitingReports().map((_, place) => fill('waiting', { place })),
    ...tickets.digestsKept().map(ticketItem),
    ...draws().map((slug) => fill('drawn', { slug, title: titleOf(all, slug) })),
  ];
  const parts = [
    ...(all.length ? [total(all), list(all)] : [fill(deviceStorage() ? 'empty' : 'forbidden')]),
    ...(keys.length
      ? [
          section(
            'keys',
            keys.map((slug) => fill('key', { slug, title: titleOf(all, slug) })),
          ),
        ]
      : []),
    ...(others.length ? [section('others', others)] : []),
    ...(all.length + keys.length + others.length ? [fill('everything')] : []),
  ];
  find('#mine').replaceChildren(...parts);
}

/** @param {Line[]} all */
function total(all) {
  const loss = together(all);
  const changed = loss[0] > loss[1];
  const texts = { messages: all.length, epsilon: epsilon(loss), factor: factor(loss) };
  const part = fill('total', texts, [
    all.length > 1 ? 'many' : 'one',
    changed && 'changed',
    all.some(({ given }) => given) && 'given',
  ]);
  part
    .querySelector('tbody')
    ?.append(
      ...SURE.map((before) =>
        fill('guess-row', { before, after: atMost(sureAfter(before / 100, loss)) }),
      ),
    );
  return part;
}

/** Return how sure someone can become, at most. @param {number} before @param {Ratio} loss */
export function sureAfter(before, [top, bottom]) {
  const odds = (before / (1 - before)) * (Number((top * 1_000_000n) / bottom) / 1e6);
  return odds === Infinity ? 1 : odds / (1 + odds);
}

/** @param {Line[]} all */
function list(all) {
  const slugs = [...new Set(all.map(({ slug }) => slug).reverse())]; // the newest first
  return section(
    'list',
    slugs.map((slug) => study(all, slug)),
  );
}

/** @param {Line[]} all @param {string} slug */
function study(all, slug) {
  const own = all.filter((line) => line.slug === slug);
  const loss = together(own);
  const texts = {
    slug,
    title: titleOf(all, slug),
    count: own.length,
    epsilon: epsilon(loss),
    guess: guess(loss),
  };
  const part = fill('study', texts, [own.length > 1 && loss[0] > loss[1] && 'several']);
  find('[data-part="lines"]', part).append(
    ...own.reverse().map((line) => lineItem(line, all.indexOf(line), own.length === 1)),
  );
  return part;
}

/** @param {Line} line @param {number} place @param {boolean} last */
function lineItem(line, place, last) {
  const loss = together([line]);
  const { title, day, wave, receipt = '', given, again, state } = line;
  const texts = {
    title,
    place,
    wave,
    receipt,
    day: dayText(day),
    epsilon: epsilon(loss),
    guess: guess(loss),
  };
  const changed = loss[0] > loss[1];
  return fill('line', texts, [
    state,
    changed && 'changed',
    given > 0 && 'given',
    receipt && 'receipt',
    wave > 1 && 'wave',
    again && 'again',
    last && 'last',
  ]);
}

/** @param {string} digest */
const ticketItem = (digest) =>
  fill('ticket', { name: digest, title: tickets.keptFor(digest)?.title ?? digest });

/** @param {[string, Draft]} draft */
const draftItem = ([name, { title, until }]) =>
  fill('draft', { name, title, until: moment(new Date(until)) });

/** @param {Line[]} all @param {string} slug */
const titleOf = (all, slug) => all.filter((line) => line.slug === slug).pop()?.title ?? slug;

/** @param {string} id @param {DocumentFragment[]} items */
function section(id, items) {
  const part = fill(id);
  find('ul', part).append(...items);
  return part;
}
