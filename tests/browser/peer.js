/** Tickets crossed with an independent implementation of RFC 9474: its issuer for our client, our check for its client. */
import { RSABSSA } from '@cloudflare/blindrsa-ts';
import { constants, createPrivateKey, privateDecrypt } from 'node:crypto';
import { finalize, messageOf, prepare, verify } from '../../surveys/intake/static/intake/ticket.js';

const peer = RSABSSA.SHA384.PSS.Randomized();
const RSA = { name: 'RSA-PSS', hash: 'SHA-384' };
const E = Uint8Array.of(1, 0, 1);

export const hex = (bytes) => Buffer.from(bytes).toString('hex');
export const unhex = (digits) => new Uint8Array(Buffer.from(digits, 'hex'));

/** Return a key pair as both want it. */
export async function newKeys(modulusLength = 2048) {
  const { publicKey, privateKey } = await crypto.subtle.generateKey(
    { ...RSA, modulusLength, publicExponent: E },
    true,
    ['sign', 'verify'],
  );
  const jwk = await crypto.subtle.exportKey('jwk', privateKey);
  return { publicKey, privateKey, key: hex(Buffer.from(jwk.n, 'base64url')), jwk };
}

/** Sign a blinded message, in hex: by OpenSSL, fast, or by the peer. */
export function signed({ jwk, privateKey }, blinded, byPeer) {
  if (byPeer) return peer.blindSign(privateKey, unhex(blinded)).then(hex);
  const key = createPrivateKey({ key: jwk, format: 'jwk' });
  return hex(privateDecrypt({ key, padding: constants.RSA_NO_PADDING }, unhex(blinded)));
}

/** Return whether a ticket of our client is one for the peer. */
export async function oursForThePeer(keys, digest, byPeer = false) {
  const own = await prepare(keys.key, digest);
  const message = messageOf(own.prefix, digest);
  const blindly = await signed(keys, own.blinded, byPeer);
  const ticket = await finalize(keys.key, message, own.factor, blindly);
  return peer.verify(keys.publicKey, unhex(ticket), message);
}

/** Return whether a ticket of the peer's client is one for us. */
export async function thePeersForUs(keys, digest) {
  const message = peer.prepare(messageOf('', digest)); // it puts the prefix in front
  const { blindedMsg, inv } = await peer.blind(keys.publicKey, message);
  const blindly = signed(keys, hex(blindedMsg), false);
  const ticket = await peer.finalize(keys.publicKey, message, unhex(blindly), inv);
  return verify(keys.key, messageOf(hex(message).slice(0, 64), digest), hex(ticket));
}
