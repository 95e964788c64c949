/**
 * A ticket: a blind signature, so that whoever signs it for an invited person cannot tell later which it was. RFC 9474,
 * RSABSSA-SHA384-PSS-Randomized: e is 65537, the salt has 48 bytes, and a message begins with 32 random ones.
 *
 * BigInt is not constant in time; what it works on is used once, and leaves this device blinded only.
 */
import { hex } from './plan.js';

const E = 65537;
const [SALT, PREFIX] = [48, 32]; // bytes
const NAME = new TextEncoder().encode('candor ticket');
const RSA = { name: 'RSA-PSS', hash: 'SHA-384', saltLength: SALT };

/** Return bytes of chance. @param {number} length */
const chance = (length) => crypto.getRandomValues(new Uint8Array(length));

/** @param {Uint8Array[]} parts */
function joined(...parts) {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  parts.reduce((at, part) => (all.set(part, at), at + part.length), 0);
  return all;
}

/** Return what a ticket signs. @param {string} prefix 32 random bytes in hex. @param {string} digest The Plan's. */
export const messageOf = (prefix, digest) => joined(unhex(prefix), NAME, unhex(digest));

/**
 * Return a new ticket's secrets, which stay on this device, and the blinded message that is to be signed.
 * @param {string} key The modulus in hex.
 * @param {string} digest
 * @returns {Promise<Blinded>}
 */
export async function prepare(key, digest) {
  const prefix = hex(chance(PREFIX));
  return { prefix, ...(await blind(key, messageOf(prefix, digest))) };
}

/**
 * Blind a prepared message; throw where the factor has no inverse: then the key is none.
 * @param {string} key @param {Uint8Array<ArrayBuffer>} message
 * @param {Uint8Array} [salt] @param {bigint} [factor] Of a test.
 */
export async function blind(key, message, salt = chance(SALT), factor = below(number(key))) {
  const n = number(key);
  const padded = number(hex(await encoded(message, n.toString(2).length - 1, salt)));
  inverse(padded, n);
  const text = (/** @type {bigint} */ value) => value.toString(16).padStart(key.length, '0');
  return { factor: text(inverse(factor, n)), blinded: text((padded * raised(factor, n)) % n) };
}

/**
 * Take the blinding off; return the signature in hex, which is one under the key, or throw.
 * @param {string} key @param {Uint8Array<ArrayBuffer>} message
 * @param {string} factor As `blind` gave it.
 * @param {string} signed The issuer's answer, in hex.
 */
export async function finalize(key, message, factor, signed) {
  const signature = ((number(signed) * number(factor)) % number(key))
    .toString(16)
    .padStart(key.length, '0');
  if (signed.length !== key.length || !(await verify(key, message, signature)))
    throw new Error('ticket: expected a signature under the key of the Plan');
  return signature;
}

/** Tell whether this is a message's signature. @param {string} key @param {Uint8Array<ArrayBuffer>} message @param {string} signature In hex. */
export async function verify(key, message, signature) {
  const jwk = { kty: 'RSA', n: base64(key), e: 'AQAB' };
  const whose = await crypto.subtle.importKey('jwk', jwk, RSA, false, ['verify']);
  return crypto.subtle.verify(RSA, whose, unhex(signature), message);
}

/** Return EMSA-PSS of a message (RFC 8017, § 9.1.1). @param {Uint8Array<ArrayBuffer>} message @param {number} bits @param {Uint8Array} salt */
async function encoded(message, bits, salt) {
  const length = Math.ceil(bits / 8);
  const digest = await sha384(new Uint8Array(8), await sha384(message), salt);
  const block = joined(new Uint8Array(length - SALT - digest.length - 2), Uint8Array.of(1), salt);
  for (let at = 0; at < block.length; at += digest.length) {
    const mask = await sha384(digest, Uint8Array.of(0, 0, 0, at / digest.length)); // MGF1
    mask.forEach((byte, i) => (block[at + i] ^= byte)); // beyond the end nothing is written
  }
  block[0] &= 255 >> (8 * length - bits);
  return joined(block, digest, Uint8Array.of(0xbc));
}

/** @param {Uint8Array[]} parts */
const sha384 = async (...parts) =>
  new Uint8Array(await crypto.subtle.digest('SHA-384', joined(...parts)));

/** Return a number from 1 to n − 1, each as likely as the others. @param {bigint} n @returns {bigint} */
function below(n) {
  const drawn = number(hex(chance(n.toString(16).length / 2)));
  return drawn && drawn < n ? drawn : below(n);
}

/** Return x to the power e, modulo n: 16 squares, and once more x. @param {bigint} x @param {bigint} n */
function raised(x, n) {
  let found = x;
  for (let power = E; power > 1; power >>= 1) found = (found * found) % n;
  return (found * x) % n;
}

/** @param {bigint} a @param {bigint} n */
function inverse(a, n) {
  let [r, next, x, other] = [n, a, 0n, 1n];
  while (next) [r, next, x, other] = [next, r % next, other, x - (r / next) * other];
  if (r !== 1n) throw new Error('ticket: expected a number that has an inverse');
  return x < 0n ? x + n : x;
}

/** @param {string} digits In hex. */
const number = (digits) => BigInt(`0x${digits}`);

/** @param {string} digits Two a byte. */
const unhex = (digits) => Uint8Array.from(digits.match(/../g) ?? [], (byte) => parseInt(byte, 16));

/** Return bytes in base64url without padding. @param {string} digits In hex. */
export const base64 = (digits) =>
  btoa(String.fromCharCode(...unhex(digits))).replace(
    /[+/=]/g,
    (mark) => ({ '+': '-', '/': '_' })[mark] ?? '',
  );

/** @param {string} text In base64url. */
export const unbase64 = (text) =>
  hex(Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0)));
