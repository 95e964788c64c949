/**
 * When a message leaves, where the time would tell. Where questions are passed over, who is asked fewer is done sooner: so
 * it leaves at moments of a grid that begins with the page, before anything is answered. Where people are invited, who saw
 * a ticket fetched would know the message that comes soon after: so it leaves at moments of UTC that all devices share.
 */
const ENDS = 60; // seconds for what stands before the first question and after the last
const EACH = 20; // for a question
const LETTERS = 10; // bytes of its words that a slow reader reads in a second
const LATE = 2_000; // ms after a moment at which a device that slept through it takes the next one

/** Return how many minutes are between moments, more than the longest way takes nearly everybody; 0 where nothing is passed over. Twin of plan/content.py. @param {Pick<Plan, 'questions' | 'blocks'>} plan In its own language. */
export function minutesBetween({ questions, blocks }) {
  if (!passesOver({ questions, blocks })) return 0;
  return Math.ceil(
    questions.reduce((sum, question) => sum + EACH + Math.ceil(bytesOf(question) / LETTERS), ENDS) /
      60,
  );
}

/** Tell whether an answer can leave questions out: what depends on it, or is declined with it. @param {Pick<Plan, 'questions' | 'blocks'>} plan */
export const passesOver = ({ questions, blocks = [] }) =>
  questions.some(({ asked_if }) => asked_if) || blocks.some(({ decline }) => decline);

/** @param {Question} question */
const bytesOf = ({ text, help, choices }) =>
  new TextEncoder().encode([text, help, ...choices].join('')).length;

/** Return what tells the first moment after a time, every so many minutes from the load of the page on; all in ms since then. @param {number} minutes */
export const every =
  (minutes, step = minutes * 60_000) =>
  (time = sinceLoad()) =>
    (Math.floor(time / step) + 1) * step;

/**
 * Call at every moment from now on, with whether the device was awake for it.
 * @param {(time?: number) => number} after Tells the first moment after a time.
 * @param {(awake: boolean) => void} call
 * @param {{ now?: () => number, later?: (call: () => void, wait: number) => unknown }} [device]
 */
export function atMoments(after, call, { now = sinceLoad, later = setTimeout } = {}) {
  const wait = (/** @type {number} */ moment) =>
    later(() => {
      const late = now() - moment;
      call(late <= LATE);
      wait(after(Math.max(moment, now())));
    }, moment - now());
  wait(after(now()));
}

const loaded = Date.now() - performance.now();

/** Time by the device's own clock, which setting the other one back does not turn; some stand still while a device sleeps, and what they lost counts. */
export const sinceLoad = () => Math.max(performance.now(), Date.now() - loaded);

/** Return the same of UTC's clock, and so many ms later: none before the first, in minutes. @param {number} minutes @param {number} late @param {number} first @param {number} load Of the page, in UTC's ms. */
export const byTheClock =
  (minutes, late, first, load = loaded) =>
  (time = sinceLoad()) =>
    every(minutes)(Math.max(time, first * 60_000) + load - late) - load + late;
