/** Images of questions: all fetched before question one, each checked against its hash. Fetched only for a Plan that has some. */
import { digestOf, NoPlan } from './plan.js';
import { expect } from './expect.js';

/**
 * Fetch every image of a Plan. They are drawn from memory later: showing one asks nobody for it.
 * @param {Plan} plan
 * @param {typeof fetch} [get]
 * @returns {Promise<Map<string, ImageBitmap>>} By hash.
 */
export async function fetchPictures({ questions }, get = fetch) {
  const pictures = questions.flatMap(({ picture }) => picture ?? []);
  return new Map(
    await Promise.all(
      pictures.map(
        async ({ sha256, type }) =>
          /** @type {const} */ ([sha256, await fetchPicture(sha256, type, get)]),
      ),
    ),
  );
}

/** @param {string} sha256 @param {string} type @param {typeof fetch} get */
async function fetchPicture(sha256, type, get) {
  const response = await get(`/pictures/${sha256}`, {
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
    redirect: 'error',
  }).catch(() => null);
  if (!response?.ok)
    throw new NoPlan('unreachable', `picture: status ${response?.status ?? 'none'}`);
  const bytes = await response.arrayBuffer();
  const found = await digestOf(bytes);
  expect(found === sha256, 'picture', sha256, found);
  return createImageBitmap(new Blob([bytes], { type }));
}

/** Return an image to look at, and its words for who does not see it. @param {Picture} picture @param {ImageBitmap} bitmap */
export function drawn({ text }, bitmap) {
  const canvas = document.createElement('canvas');
  canvas.className = 'picture';
  canvas.width = bitmap.width;
  canvas.height = bitmap.height;
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', text);
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0);
  return canvas;
}
