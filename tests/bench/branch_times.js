/** Scripted respondents before the form's own scheduling, sizes by its own reports: what tests/bench/branch_times.py watches. */
import { complete } from '../../surveys/intake/static/intake/branches.js';
import { prepare } from '../../surveys/intake/static/intake/channels.js';
import { atMoments, every, minutesBetween } from '../../surveys/intake/static/intake/moments.js';
import { composeReport } from '../../surveys/intake/static/intake/report.js';
import { importKey } from '../../surveys/intake/static/intake/waves.js';

/** A device: its timers go off when they are due while it is awake, and when it wakes. */
class Device {
  constructor(asleep) {
    this.asleep = asleep; // [from, until], or nothing
    this.time = 0;
    this.timers = [];
  }

  now = () => this.time;
  later = (call, wait) => void this.timers.push({ call, at: this.time + wait });

  /** Live until something is true, or until an end. */
  until(done, end) {
    while (!done()) {
      this.timers.sort((a, b) => a.at - b.at);
      if (!this.timers.length || this.timers[0].at > end) return;
      const { call, at } = this.timers.shift();
      const [from, until] = this.asleep ?? [Infinity, Infinity];
      this.time = at > from && at < until ? until : at;
      call();
    }
  }
}

const KEYS = 64; // of so many devices: making them would take longer than all the rest

/** Open the page: return when a message that is ready from a time on leaves, in ms; NaN if it does not before the end. */
function left(minutes, ready, end, asleep) {
  if (!minutes) return ready;
  const device = new Device(asleep);
  let at = NaN;
  atMoments(
    every(minutes),
    (awake) => {
      if (awake && device.time >= ready && device.time <= end) at = device.time;
    },
    device,
  );
  device.until(() => !Number.isNaN(at), end);
  return at;
}

/** Return what a watcher sees of one person, in seconds: the page's loads, and the message. */
function seen(minutes, { took, closed, sleeps, now }) {
  const ready = 1000 * took;
  if (now) return { loads: [0], sent: took };
  const asleep = sleeps && [ready + 1000 * sleeps[0], ready + 1000 * (sleeps[0] + sleeps[1])];
  if (closed === null || !minutes)
    return { loads: [0], sent: left(minutes, ready, Infinity, asleep) / 1000 };
  const again = took + closed; // opened again, the message is there: it takes a moment of the new page
  return { loads: [0, again], sent: again + left(minutes, 0, Infinity) / 1000 };
}

/** @param {any} plan @param {any[]} people */
export async function watch(plan, people) {
  const minutes = minutesBetween(plan);
  await prepare(plan);
  const found = [];
  const keys = await Promise.all(
    Array.from({ length: KEYS }, () => importKey(crypto.getRandomValues(new Uint8Array(32)))),
  );
  for (const [place, person] of people.entries()) {
    const answers = complete(plan, new Map(Object.entries(person.answers)));
    const message = await composeReport(plan, 'd'.repeat(64), answers, keys[place % KEYS]);
    found.push({ ...seen(minutes, person), size: JSON.stringify(message).length });
  }
  return found;
}
