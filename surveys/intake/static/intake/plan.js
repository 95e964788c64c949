/** The Plan: fetched without credentials, and taken only if its bytes are the ones the link names. */

/** Why there is no Plan to show. */
export class NoPlan extends Error {
  /** @param {Reason} reason @param {string} message */
  constructor(reason, message) {
    super(message);
    this.reason = reason;
  }
}

/**
 * Return the fingerprint in a link, '' if there is none; a letter's link has more behind a dot. What is not 64 hex digits will match
 * no Plan, and be refused.
 * @param {string} hash
 */
export const linkedDigest = (hash) => hash.replace(/^#|\..*/g, '').toLowerCase();

/**
 * Fetch a Plan and check its fingerprint.
 * @param {string} slug
 * @param {string} expected Fingerprint from the link; '' when it carried none.
 * @param {typeof fetch} [get]
 */
export async function fetchPlan(slug, expected, get = fetch) {
  const bytes = await download(`/api/v1/studies/${encodeURIComponent(slug)}/plan`, get);
  const digest = await digestOf(bytes);
  if (expected && expected !== digest)
    throw new NoPlan('fingerprint', `plan: expected ${expected}, got ${digest}`);
  return { plan: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)), digest };
}

/** Return the SHA-256 of some bytes, in hex. @param {BufferSource} bytes */
export const digestOf = async (bytes) =>
  hex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));

/** @param {Uint8Array} bytes */
export const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** @param {string} url @param {typeof fetch} get */
async function download(url, get) {
  /** @type {Response} */
  let response;
  try {
    response = await get(url, {
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      redirect: 'error',
    });
    if (response.ok) return await response.arrayBuffer();
  } catch {
    throw new NoPlan('unreachable', 'plan: no connection');
  }
  throw new NoPlan(
    response.status === 404 ? 'missing' : 'unreachable',
    `plan: status ${response.status}`,
  );
}
