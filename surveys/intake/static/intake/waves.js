/**
 * The words of a draw, and the key they come from. Where the Plan says “kept”, the key stays here: an answer that did not
 * change is sent the same way in every wave, so many waves cannot be averaged into the truth; and no answer is stored to
 * achieve it. Where it says “fresh”, a key is used once and kept nowhere. Twin of tests/waves.py.
 *
 * They depend on all of a question as it is read, not on its name: if two questions shared a draw, who knows one answer
 * would learn from a report that differs what the other is.
 *
 * The key lies in IndexedDB as one that scripts can use and never read. Whoever holds it and the database may learn answers.
 */
import { inputOf, randomise } from './channels.js';
import { digestOf } from './plan.js';

const HMAC = { name: 'HMAC', hash: 'SHA-256' };
const [DATABASE, STORE] = ['candor', 'keys'];
const SPENT = new Error('words: more are needed');

/**
 * Return the key of a study, and whether it was here before. Two tabs that both keep one find the same. Where draws are
 * fresh none is looked for, and none stays. A Plan of older days says neither: one that was kept serves on, so that an
 * answer that stays is sent alike, as was promised then; no new one is kept.
 * @param {Pick<Plan, 'slug' | 'draws' | 'wave' | 'waves'>} plan
 * @returns {Promise<StudyKey>}
 */
export async function keyFor({ slug, draws, wave, waves }) {
  const fresh = await importKey(crypto.getRandomValues(new Uint8Array(32)));
  if (draws === 'fresh') return { key: fresh, before: false, kept: false };
  const keep = draws === 'kept' && wave < Number(waves); // the last one needs it no more
  try {
    const found = await inStore(
      keep,
      (keys) => keys.get(slug),
      (keys, found) => void (keep && !found && keys.add(fresh, slug)),
    );
    if (found) return { key: found, before: true, kept: true };
    return { key: fresh, before: false, kept: keep };
  } catch {
    return { key: fresh, before: false, kept: false }; // storage is forbidden, or there is none yet
  }
}

/** Return the studies that have a key here. @returns {Promise<string[]>} */
export const keysKept = () => inStore(false, (keys) => keys.getAllKeys()).catch(() => []);

/** @param {string} slug */
export async function eraseKey(slug) {
  const others = (await keysKept()).filter((name) => name !== slug);
  if (!others.length) return eraseKeys();
  await inStore(true, (keys) => keys.delete(slug));
}

/** @returns {Promise<void>} */
export const eraseKeys = () =>
  new Promise((resolve) => {
    try {
      const request = indexedDB.deleteDatabase(DATABASE);
      request.onsuccess = request.onerror = () => resolve();
    } catch {
      resolve();
    }
  });

/** @param {BufferSource} bytes */
export const importKey = (bytes) => crypto.subtle.importKey('raw', bytes, HMAC, false, ['sign']);

/**
 * Return what to send in place of a true answer: chance decides by the key, so the same answer is always sent alike.
 * @param {CryptoKey} key
 * @param {Question} question Changed on the device.
 * @param {Answer} answer
 */
export async function draw(key, question, answer) {
  const input = inputOf(question, answer);
  const about = await aboutOf(question, input);
  /** @type {number[]} */
  const words = [];
  for (let blocks = 1; ; blocks *= 2) {
    while (words.length < 8 * blocks) words.push(...(await block(key, about, words.length / 8)));
    try {
      return randomise(question, input, reader(words));
    } catch (error) {
      if (error !== SPENT) throw error; // else the same words again, and more of them
    }
  }
}

/** Return what a draw's words depend on, beside the key. @param {Question} question @param {Answer} input */
export const aboutOf = async (question, input) => [
  await digestOf(bytesOf(canonical(question))),
  input,
];

/** Return eight words. @param {CryptoKey} key @param {unknown[]} about @param {number} counter */
export async function block(key, about, counter) {
  const view = new DataView(await crypto.subtle.sign('HMAC', key, bytesOf([...about, counter])));
  return Array.from({ length: 8 }, (_, i) => view.getUint32(4 * i));
}

/** @param {number[]} words @returns {Words} */
function reader(words) {
  let next = 0;
  return () => {
    if (next === words.length) throw SPENT;
    return words[next++];
  };
}

/** @param {unknown} value */
export const bytesOf = (value) => new TextEncoder().encode(JSON.stringify(value));

/** Return a value whose keys are in order, as the server's JSON is. @param {any} value @returns {any} */
export function canonical(value) {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || !value) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, canonical(value[name])]),
  );
}

/**
 * Read, then perhaps write, in one transaction. To read makes no database where there is none.
 * @template T
 * @param {boolean} write
 * @param {(keys: IDBObjectStore) => IDBRequest<T>} read
 * @param {(keys: IDBObjectStore, found: T) => void} [then]
 * @returns {Promise<any>}
 */
async function inStore(write, read, then) {
  const database = await open(write);
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(STORE, write ? 'readwrite' : 'readonly');
      const keys = transaction.objectStore(STORE);
      const request = read(keys);
      request.onsuccess = () => then?.(keys, request.result);
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = transaction.onerror = () => reject(transaction.error);
    });
  } finally {
    database.close();
  }
}

/** @param {boolean} make @returns {Promise<IDBDatabase>} */
function open(make) {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () =>
      make ? request.result.createObjectStore(STORE) : request.transaction?.abort();
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
