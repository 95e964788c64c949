/**
 * A device's ticket for a study of invited people: asked for once, kept until the answer that it comes with is accepted.
 *
 * What is posted is written first, under a lock that all tabs share: a lost answer, a reload or a second tab ask again
 * with the same bytes, and the issuer answers with the same ones; another message for the same person it refuses.
 */
import { deviceStorage } from './device_ledger.js';
import { digestOf } from './plan.js';
import { base64, finalize, messageOf, prepare, unbase64, verify } from './ticket.js';

const PREFIX = 'candor.ticket.';
/** What a browser that forbids storage keeps in this page. @type {Map<string, string>} */
const inPage = new Map();

/** Return what is kept of a Plan's ticket: a ticket, what was asked for one, or null. @param {string} digest @param {Storage} [storage] @returns {Kept | null} */
export function keptFor(digest, storage = deviceStorage()) {
  try {
    const name = PREFIX + digest;
    return JSON.parse(storage?.getItem(name) ?? inPage.get(name) ?? 'null');
  } catch {
    return null;
  }
}

/** Keep it; tell whether it is on the device, and not in this page only. @param {string} digest @param {Kept} kept @param {Storage} [storage] */
export function keep(digest, kept, storage = deviceStorage()) {
  const [name, text] = [PREFIX + digest, JSON.stringify(kept)];
  inPage.set(name, text);
  try {
    storage?.setItem(name, text);
  } catch {} // full, or forbidden
  return storage?.getItem(name) === text;
}

/** @param {string} digest @param {Storage} [storage] */
export function forget(digest, storage = deviceStorage()) {
  inPage.delete(PREFIX + digest);
  storage?.removeItem(PREFIX + digest);
}

/** Return the digests of the Plans that something is kept for. @param {Storage} [storage] */
export const digestsKept = (storage = deviceStorage()) =>
  Object.keys(storage ?? {})
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => name.slice(PREFIX.length));

/** Tell whether this is a ticket of the Plan. @param {Study} study @param {any} kept @returns {Promise<boolean>} */
export async function isTicket({ plan, digest }, kept) {
  const key = plan.invited?.strata[kept?.stratum]?.key;
  if (!key || !/^[0-9a-f]{64}$/.test(kept.prefix) || typeof kept.signature !== 'string')
    return false;
  try {
    return await verify(key, messageOf(kept.prefix, digest), unbase64(kept.signature));
  } catch {
    return false; // no base64url
  }
}

/** Return the parts of a report that a ticket makes. @param {string} digest @param {Ticket} ticket */
export const spent = async (digest, { prefix, signature, stratum }) => ({
  report_id: (await digestOf(messageOf(prefix, digest))).slice(0, 32),
  ticket: { prefix, signature, stratum },
});

/**
 * Ask the issuer for the ticket of a letter; the answer is kept. What was asked for before comes first, with its own code.
 * @param {Study} study
 * @param {Letter | undefined} letter
 * @param {Issuer} issuer
 * @returns {Promise<Answered>}
 */
export function fetchTicket(study, letter, issuer) {
  const { digest } = study;
  const { storage = deviceStorage(), locks = navigator.locks } = issuer;
  const fetched = async () => {
    const kept = keptFor(digest, storage);
    if (await isTicket(study, kept)) return 'ticket';
    if (kept && 'blinded' in kept) {
      const answered = await ask(study, kept, issuer);
      const isOver = answered === 'unknown' || answered === 'fetched';
      if (!isOver || !letter || letter.code === kept.code) return answered;
    }
    if (!letter) return 'unknown';
    const { key } = /** @type {Invited} */ (study.plan.invited).strata[letter.stratum];
    const own = { ...letter, title: study.plan.title, ...(await prepare(key, digest)) };
    keep(digest, own, storage);
    return ask(study, own, issuer);
  };
  return locks ? /** @type {Promise<any>} */ (locks.request(PREFIX + digest, fetched)) : fetched();
}

/** @param {Study} study @param {Asking} own @param {Issuer} issuer @returns {Promise<Answered>} */
async function ask({ plan, digest }, own, { address, post = fetch, storage = deviceStorage() }) {
  const { stratum, code, title, prefix, factor, blinded } = own;
  const body = { plan: digest, stratum, code, blinded: base64(blinded) };
  const { status, said } = await posted(`${address}/issuer/tickets`, body, post);
  // no code of theirs, or another message was signed: this one never will be
  if (status === 403 || status === 409) forget(digest, storage);
  if (status !== 200) return whyNot(status);
  const { key } = /** @type {Invited} */ (plan.invited).strata[stratum];
  try {
    const message = messageOf(prefix, digest);
    const signature = base64(await finalize(key, message, factor, unbase64(said.signature)));
    keep(digest, { title, stratum, prefix, signature }, storage); // code and factor are gone
    return 'ticket';
  } catch {
    return 'unsound';
  }
}

/**
 * Return whether a ticket was fetched, or why that cannot be told. A code that was e-mailed tells of all codes of its
 * person; one that was printed or saved only of itself ('own-…'), as of last midnight.
 * @param {string} digest @param {string} code @param {Issuer} issuer @returns {Promise<Answered | 'open' | 'own-fetched' | 'own-open'>}
 */
export async function markOf(digest, code, { address, post = fetch }) {
  const { status, said } = await posted(`${address}/issuer/marks`, { plan: digest, code }, post);
  if (status !== 200) return whyNot(status);
  const answer = said.fetched ? 'fetched' : 'open';
  return said.alone ? `own-${answer}` : answer;
}

/** @param {number} status @returns {Answered} */
const whyNot = (status) =>
  /** @type {Record<number, Answered>} */ ({
    0: 'offline',
    403: 'unknown',
    409: 'fetched',
    410: 'closed',
  })[status] ?? 'busy';

/** @param {string} url @param {object} body @param {typeof fetch} post @returns {Promise<{ status: number, said: any }>} */
async function posted(url, body, post) {
  try {
    const response = await post(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      redirect: 'error',
      cache: 'no-store',
      signal: AbortSignal.timeout(30_000),
    });
    const said = await response.json().catch(() => ({}));
    // what is no answer of the issuer's about the code, a proxy's page for one, decides nothing
    const { field } = said.error ?? {};
    const isOurs = response.ok
      ? 'signature' in said || 'fetched' in said
      : field === 'code' || (field && response.status !== 403);
    return { status: isOurs ? response.status : 503, said };
  } catch {
    return { status: 0, said: {} };
  }
}
