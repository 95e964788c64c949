/**
 * The page of a study that asks a list of people: what a letter brings, the press that fetches a ticket, and the ticket
 * as a file. Fetched only where the Plan has a list. Twin, in `open`, of surveys/plan/invited.py.
 */
import { dayText } from './device_ledger.js';
import { differ, expect, isInteger, isList, matches } from './expect.js';
import { byTheClock, minutesBetween } from './moments.js';
import { fill, find, language, show } from './page.js';
import { isText } from './texts.js';
import * as tickets from './tickets.js';

const [FEWEST, MOST_STRATA, HOUR] = [30, 100, 60];
const MINUTE = 60_000;
const KEY = /^[89a-f][0-9a-f](?:[0-9a-f]{2}){254,510}[0-9a-f][13579bdf]$/;
const DAY = /^20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/;

/** Check a Plan's list, and return the Plan without it: the rest is that of an open link. @param {Plan} plan @returns {Plan} */
export function open({ invited, ...rest }) {
  if (invited === undefined) return rest;
  expectParts('invited', invited, ['answers_from', 'moments', 'strata']);
  expect(rest.draws !== 'kept', 'plan', 'no key of people on a list', rest.draws);
  const { strata, moments } = invited;
  const divides = isInteger(moments, 1, HOUR) && HOUR % moments === 0;
  expect(divides, 'moments', 'minutes that divide 60', moments);
  expect(
    !('answers_from' in invited) || matches(invited.answers_from, DAY),
    'answers_from',
    'a day',
    invited.answers_from,
  );
  expect(isList(strata) && isInteger(strata.length, 1, MOST_STRATA), 'strata', '1 to 100', strata);
  strata.forEach((each, at) => {
    const place = `stratum ${at + 1}`;
    expectParts(place, each, ['key', 'name', 'people']);
    const { key, name, people } = each;
    expect(matches(key, KEY), place, 'an odd modulus of 2048 to 4096 bits', key);
    expect(typeof name === 'string' && (name || strata.length === 1), place, 'a name', name);
    expect(isInteger(people, FEWEST, 2 ** 53 - 1), place, '30 people or more', people);
  });
  for (const part of /** @type {const} */ (['key', 'name']))
    expect(differ(strata.map((each) => each[part])), 'strata', `each ${part} once`, 'one twice');
  return rest;
}

/** @param {string} place @param {object} part @param {string[]} names */
function expectParts(place, part, names) {
  expect(part && typeof part === 'object' && !isList(part), place, 'an object with parts', part);
  const extra = Object.keys(part).find((name) => !names.includes(name));
  expect(extra === undefined, place, `no parts but ${names.join(', ')}`, extra);
}

/** Return what a study has by its list: messages leave by a clock that all devices share, and not before the longest way is gone. @param {Plan} plan */
export function joined(plan) {
  const { moments, strata } = /** @type {Invited} */ (plan.invited);
  for (const { name } of strata) expect(isText(name), 'strata', 'texts', name);
  const late = crypto.getRandomValues(new Uint16Array(1))[0] % MINUTE; // ms: not all at once
  return { minutes: moments, after: byTheClock(moments, late, minutesBetween(plan)) };
}

/** @type {Study} */
let study;
/** What the link of a letter brought. @type {Letter | undefined} */
let letter;
/** What is kept of a ticket, and the ticket once it is here. @type {Kept | null} */
let kept;
/** @type {Ticket | undefined} */
let ticket;
/** @type {ReturnType<NonNullable<Sending['spent']>>} */
let parts;
let again = () => {};

const issuer = () => ({ address: find('main').dataset.issuer ?? '' });

/**
 * Read the letter that form.js took out of the address, and what is kept here; nothing is posted. Tell whether there is
 * neither: then it is said that the study asks a list of people, and no question is.
 * @param {Study} found
 * @param {object} others What the page's buttons do, to which ours come.
 * @param {() => void} render Shows the welcome anew.
 */
export async function isAway(found, others, render) {
  [study, again] = [found, render];
  const known = history.state?.letter;
  letter = listOf(study).strata[known?.stratum] && known;
  Object.assign(others, actions);
  addEventListener('change', ({ target }) => {
    if (target instanceof HTMLInputElement && target.id === 'ticket-file') void bring(target);
  });
  await recall();
  if (ticket || kept || letter) return false;
  const { title, organisation, contact } = study.plan;
  show(fill('uninvited', { title, organisation, contact }, [contact && 'contact']), {
    focus: false,
  });
  return true;
}

/** @param {Study} study */
const listOf = ({ plan }) => /** @type {Invited} */ (plan.invited);

async function recall() {
  kept = tickets.keptFor(study.digest);
  const isHere = await tickets.isTicket(study, kept);
  ticket = isHere ? /** @type {Ticket} */ (kept) : undefined;
  if (kept && !ticket && !('blinded' in kept)) kept = null; // spoilt
  parts = ticket && (await tickets.spent(study.digest, ticket));
}

/** Say on the welcome who is asked, and what the ticket is for; without one, too early, or where enough of a stratum have answered, nobody can start. */
export function greet() {
  const { strata, answers_from = '' } = listOf(study);
  const { stratum } = kept ?? /** @type {Letter} */ (letter);
  const { name, people } = strata[stratum];
  const full = `${find('main').dataset.full}`.split(' ').includes(`${stratum}`);
  const early = new Date().toISOString().slice(0, 10) < answers_from;
  const texts = {
    stratum: name,
    people: people.toLocaleString(language()),
    count: people,
    day: dayText(answers_from),
  };
  const part = fill('invitation', texts, [
    ticket ? (early ? 'early' : 'ticket') : full ? 'late' : 'letter',
    full && 'full',
    !!ticket && 'has',
    !!ticket && !!letter && 'both',
    !!letter && 'code',
    !ticket && !!kept && 'asked',
    !!ticket && !tickets.keep(study.digest, ticket) && 'unkept',
    early && !ticket && 'phases',
    name ? 'named' : 'whole',
  ]);
  find('#ticket').replaceChildren(part);
  find('.welcome .act > .actions').hidden = !ticket || early || full;
}

/** Return the parts of a report that the ticket makes. */
export const spent = () => parts;

/** @type {Record<string, (button: HTMLElement) => void>} */
const actions = {
  ticket: (button) => void fetchNow(button),
  mark: (button) => void look(button),
  'save-ticket': () => save(),
  'put-aside': () => void putAside(),
  'bring-ticket': () => find('#ticket-file').click(),
};

/** @param {HTMLElement} button */
async function fetchNow(button) {
  button.toggleAttribute('disabled', true);
  say('asking');
  const answered = await tickets.fetchTicket(study, letter, issuer());
  button.toggleAttribute('disabled', false);
  if (answered !== 'ticket') {
    button.focus(); // lost when it was disabled
    return say(answered);
  }
  await recall();
  greetAgain();
}

/** Show the welcome anew, and lead to what it says of the ticket now. */
function greetAgain() {
  again();
  find('#invited').focus();
}

/** @param {HTMLElement} button */
async function look(button) {
  button.toggleAttribute('disabled', true);
  const answered = await tickets.markOf(
    study.digest,
    /** @type {Letter} */ (letter).code,
    issuer(),
  );
  button.toggleAttribute('disabled', false);
  button.focus();
  const said = {
    fetched: 'mark-yes',
    open: 'mark-no',
    'own-fetched': 'mark-own-yes',
    'own-open': 'mark-own-no',
  };
  say(said[/** @type {keyof typeof said} */ (answered)] ?? answered, '#mark-said');
}

/** @param {string} what @param {string} [where] */
function say(what, where = '#ticket-said') {
  find(where).replaceChildren(fill('ticket-says', study.plan, [what]));
}

/** Give the ticket as a file. */
function save() {
  const { plan, digest } = study;
  const text = JSON.stringify({ plan: digest, ...ticket });
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  link.download = `ticket-${plan.slug}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), MINUTE);
}

/** Save the ticket and take it off this device: the letter is another person's. */
async function putAside() {
  save();
  tickets.forget(study.digest);
  await recall();
  greetAgain();
}

/** Take a ticket from a file; what is none says so. @param {HTMLInputElement} field */
async function bring({ files }) {
  const text = (await files?.[0]?.slice(0, 10_000).text()) ?? '';
  /** @type {any} */
  let found;
  try {
    found = JSON.parse(text);
  } catch {} // no file of ours
  const { prefix, signature, stratum } = found ?? {};
  const brought = { title: study.plan.title, stratum, prefix, signature };
  if (found?.plan !== study.digest) return say(found?.plan ? 'foreign' : 'none');
  if (!(await tickets.isTicket(study, brought))) return say('none');
  tickets.keep(study.digest, brought);
  await recall();
  greetAgain();
}

/** A ticket goes when its answer was accepted, or there was one before. @param {Study} study @param {string} state */
export function settled({ digest }, state) {
  if (state === 'accepted' || state === 'conflict') tickets.forget(digest);
}
