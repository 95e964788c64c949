/** The lines of my privacy statement: what this device has sent in which studies. Never an answer, never a report; on this device only. */
import { atMost, togetherShare } from './odds.js';

const NAME = 'candor.statement';

/** Return the lines, oldest first. @param {Storage} [storage] @returns {Line[]} */
export function lines(storage = deviceStorage()) {
  try {
    const kept = JSON.parse(storage?.getItem(NAME) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isLine) : [];
  } catch {
    return [];
  }
}

/** @param {any} line */
const isLine = (line) =>
  /^[-\w]+$/.test(line?.slug) &&
  Array.isArray(line.loss) &&
  line.loss.length === 2 &&
  line.loss.every((/** @type {unknown} */ part) => /^[1-9]\d*$/.test(String(part)));

/** @param {Study} study @param {boolean} again Whether its key was here before. @returns {Line} */
export function lineOf({ plan, digest, checked }, again) {
  const [top, bottom] = checked.found.map(String);
  const given = plan.questions.filter(({ channel }) => !channel).length;
  return {
    slug: plan.slug,
    title: plan.title,
    wave: plan.wave,
    digest,
    day: today(),
    loss: [top, bottom],
    given,
    again,
    state: 'unsure',
  };
}

/** @param {Line} line @param {Storage} [storage] */
export const add = (line, storage = deviceStorage()) => write([...lines(storage), line], storage);

/**
 * Say of the last line of a Plan what became of its message.
 * @param {string} digest
 * @param {Partial<Line>} change
 * @param {Storage} [storage]
 */
export function settle(digest, change, storage = deviceStorage()) {
  const all = lines(storage);
  const line = [...all]
    .reverse()
    .find((each) => each.digest === digest && (change.receipt || each.state === 'unsure'));
  if (line)
    write(
      all.map((each) => (each === line ? { ...line, ...change } : each)),
      storage,
    );
}

/** @param {Line} line As `lines` gave it. @param {Storage} [storage] */
export function erase(line, storage = deviceStorage()) {
  const all = lines(storage);
  const place = all.findIndex((each) => JSON.stringify(each) === JSON.stringify(line));
  write(
    all.filter((_, index) => index !== place),
    storage,
  );
}

/** @param {Storage} [storage] */
export const eraseAll = (storage = deviceStorage()) => write([], storage);

/** Return what several reports tell together, at most: odds multiply. @param {Line[]} some @returns {Ratio} */
export const together = (some) =>
  some.reduce(
    (/** @type {Ratio} */ [top, bottom], { loss }) => [
      top * BigInt(loss[0]),
      bottom * BigInt(loss[1]),
    ],
    [1n, 1n],
  );

/** Return how sure, of 100, someone can become who knew nothing, at most. @param {Ratio} loss */
export const guess = (loss) => atMost(togetherShare(loss));

/** @param {Line[]} all @param {Storage | undefined} storage */
function write(all, storage) {
  try {
    if (all.length) storage?.setItem(NAME, JSON.stringify(all));
    else storage?.removeItem(NAME);
  } catch {} // full, or forbidden: then there is no statement
}

const today = () => new Date().toISOString().slice(0, 10);

export function deviceStorage() {
  try {
    return globalThis.localStorage;
  } catch {
    return undefined;
  }
}

/** @param {string} day As YYYY-MM-DD. @param {'full' | 'long'} [style] */
export function dayText(day, style = 'long') {
  const date = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(date.getTime())) return day;
  const { lang } = document.documentElement;
  return new Intl.DateTimeFormat(lang === 'en' ? 'en-GB' : lang, {
    dateStyle: style,
    timeZone: 'UTC',
  }).format(date);
}
