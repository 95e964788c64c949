/** One report: drawn once, kept on the device until the server has answered, resent unchanged. */
import { answerTo } from './blocks.js';
import { deviceStorage } from './device_ledger.js';
import { digestOf, hex } from './plan.js';
import { draw } from './waves.js';

/** Return 128 random bits in hex. */
export const newReportId = () => hex(crypto.getRandomValues(new Uint8Array(16)));

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'; // no I, L, O, U

/** Return a report id's receipt: the first 60 bits of its hash, as the server must say too. @param {string} reportId */
export async function receiptOf(reportId) {
  let bits = BigInt(`0x${await digestOf(new TextEncoder().encode(reportId))}`) >> 196n;
  let text = '';
  for (let i = 0; i < 12; i++, bits >>= 5n) text = CROCKFORD[Number(bits & 31n)] + text;
  return text.replace(/(.{4})(?=.)/g, '$1-');
}

/**
 * Return the report of a page. What is changed on the device is drawn here, and nothing true of it goes further.
 * @param {Plan} plan
 * @param {string} digest
 * @param {ReadonlyMap<string, Answer>} answers True answers, one for every question.
 * @param {CryptoKey} key
 * @returns {Promise<Message>}
 */
export async function composeReport(plan, digest, answers, key) {
  /** @type {Record<string, Value>} */
  const values = {};
  for (const question of plan.sent ?? plan.questions) {
    const answer = answerTo(question, answers);
    if (answer === undefined) throw new Error(`${question.name}: expected an answer, got none`);
    values[question.name] = question.channel ? await draw(key, question, answer) : answer;
  }
  return { plan: digest, report_id: newReportId(), answers: values };
}

const PREFIX = 'candor.report.';

/** Return the body of a report that waits on this device, or null. @param {string} digest @param {Storage} [storage] */
export function waitingReport(digest, storage = deviceStorage()) {
  const key = Object.keys(storage ?? {}).find((name) => name.startsWith(`${PREFIX}${digest}.`));
  return key ? (storage?.getItem(key) ?? null) : null;
}

/** Return all that wait here, of whatever study. @param {Storage} [storage] */
export const waitingReports = (storage = deviceStorage()) =>
  Object.keys(storage ?? {})
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => storage?.getItem(name) ?? '');

/** Keep a body on this device; tell whether it is. @param {string} body @param {Storage | null} [storage] */
export function keepReport(body, storage = deviceStorage()) {
  try {
    storage?.setItem(keyOf(body), body);
    return Boolean(storage);
  } catch {
    return false; // full, or forbidden
  }
}

/** @param {string} body @param {Storage | null} [storage] */
export function forgetReport(body, storage = deviceStorage()) {
  storage?.removeItem(keyOf(body));
}

/**
 * Send a body: kept before the first time, forgotten when the server has decided.
 * @param {string} slug
 * @param {string} body
 * @param {Outside} [outside]
 */
export async function sendReport(slug, body, { post = fetch, storage = deviceStorage() } = {}) {
  keepReport(body, storage);
  const outcome = await attempt(`/api/v1/studies/${encodeURIComponent(slug)}/reports`, body, post);
  if (outcome.state !== 'later') forgetReport(body, storage);
  return outcome;
}

/** @param {string} url @param {string} body @param {typeof fetch} post @returns {Promise<Outcome>} */
async function attempt(url, body, post) {
  try {
    const response = await post(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      redirect: 'error',
      cache: 'no-store',
      keepalive: body.length < 60_000, // a page that is closed now has still sent it; browsers allow 64 KB
      signal: AbortSignal.timeout(30_000),
    });
    const outcome = readOutcome(response.status, await response.json().catch(() => ({})));
    return outcome.state === 'later'
      ? { ...outcome, after: 1000 * (Number(response.headers.get('Retry-After')) || 0) }
      : outcome;
  } catch {
    return { state: 'later', why: 'offline', message: '' };
  }
}

/** @param {number} status @param {any} answer @returns {Outcome} */
function readOutcome(status, answer) {
  if (status === 200 || status === 201) {
    if (typeof answer?.receipt === 'string')
      return { state: 'accepted', receipt: answer.receipt, day: String(answer.accepted_on ?? '') };
    return { state: 'later', why: 'stranger', message: '' };
  }
  const message = `${status} · ${answer?.error?.message ?? 'no reason given'}`;
  const final = /** @type {const} */ ({
    403: answer?.error?.field === 'ticket' && 'malformed',
    409: 'conflict',
    410: 'closed',
    422: 'malformed',
  });
  const decided = final[/** @type {keyof typeof final} */ (status)];
  return decided
    ? { state: decided, message }
    : { state: 'later', why: 'busy', message: String(status) };
}

/** @param {string} body */
function keyOf(body) {
  const { plan, report_id } = /** @type {Message} */ (JSON.parse(body));
  return `${PREFIX}${plan}.${report_id}`;
}
