/** The one door for chance in the browser. Twin of dpengine/randomness.py: the same words, in the same order. */

export const WORD = 2 ** 32;

const buffer = new Uint32Array(64);
let next = buffer.length;

/** Return one word from the operating system. A used word is wiped: it tells how an answer was changed. */
export function systemWords() {
  if (next === buffer.length) {
    crypto.getRandomValues(buffer);
    next = 0;
  }
  const word = buffer[next];
  buffer[next++] = 0;
  return word;
}

/**
 * Return a uniform integer from 0 to n − 1. Words in the last, incomplete run of n are thrown away:
 * a bare remainder would make small numbers likelier.
 * @param {number} n 1 to 2³².
 * @param {Words} [words]
 */
export function below(n, words = systemWords) {
  if (!Number.isInteger(n) || n < 1 || n > WORD)
    throw new RangeError(`"n" expected 1 to 2³², got ${n}`);
  if (n === 1) return 0;
  const limit = WORD - (WORD % n);
  let word = words();
  while (word >= limit) word = words();
  return word % n;
}

/**
 * Return `size` of the items, without replacement, in the order drawn.
 * @template T
 * @param {readonly T[]} items
 * @param {number} size
 * @param {Words} [words]
 * @returns {T[]}
 */
export function sample(items, size, words = systemWords) {
  if (size < 0 || size > items.length)
    throw new RangeError(`"size" expected 0 to ${items.length}, got ${size}`);
  const pool = [...items];
  for (let i = 0; i < size; i++) {
    const j = i + below(pool.length - i, words);
    [pool[i], pool[j]] = [pool[j], pool[i]];
  }
  return pool.slice(0, size);
}
