import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  atMoments,
  byTheClock,
  every,
  minutesBetween,
} from '../../surveys/intake/static/intake/moments.js';

const STEP = 240_000;

/** A device's clock: timers go off when they are due, or when the device wakes. */
class Clock {
  time = 0;
  timers = [];
  now = () => this.time;
  later = (call, wait) => void this.timers.push({ call, at: this.time + wait });

  /** Let time pass awake. */
  pass(ms) {
    const end = this.time + ms;
    for (
      let due;
      (due = this.timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]);
    ) {
      this.timers.splice(this.timers.indexOf(due), 1);
      this.time = Math.max(this.time, due.at);
      due.call();
    }
    this.time = end;
  }

  /** Let time pass asleep: nothing goes off before the end of it. */
  sleep(ms) {
    this.time += ms;
  }
}

function started(begun = 0) {
  const clock = new Clock();
  clock.time = begun;
  const calls = [];
  atMoments(every(STEP / 60_000), (awake) => calls.push([clock.time, awake]), clock);
  return { clock, calls };
}

test('moments are counted from the load of the page, whenever counting begins', () => {
  for (const begun of [0, 700, 5_000]) {
    const { clock, calls } = started(begun);
    clock.pass(3 * STEP);
    assert.deepEqual(
      calls,
      [1, 2, 3].map((at) => [at * STEP, true]),
    );
  }
});

test('a device that wakes late is told so, and takes the next moment', () => {
  const { clock, calls } = started();
  clock.pass(10_000);
  clock.sleep(STEP);
  clock.pass(STEP);
  assert.deepEqual(calls, [
    [STEP + 10_000, false],
    [2 * STEP, true],
  ]);
});

test('one that sleeps through several moments takes the first after it woke', () => {
  const { clock, calls } = started();
  clock.sleep(3.5 * STEP);
  clock.pass(STEP);
  assert.deepEqual(calls, [
    [3.5 * STEP, false],
    [4 * STEP, true],
  ]);
});

test('a timer that is a little late, or a little early, is the moment still, and comes once', () => {
  for (const off of [-1, 40, 2_000]) {
    const { clock, calls } = started();
    const later = clock.timers[0];
    later.at += off;
    clock.pass(2.5 * STEP);
    assert.deepEqual(calls, [
      [STEP + off, true],
      [2 * STEP, true],
    ]);
  }
});

test('the first moment after a time is never that time', () => {
  assert.deepEqual(
    [0, 1, STEP - 1, STEP, STEP + 1].map((time) => every(STEP / 60_000)(time)),
    [STEP, STEP, STEP, 2 * STEP, 2 * STEP],
  );
});

test('a clock that all share has its moments in UTC, so many ms later, and none before the first', () => {
  const load = Date.UTC(2026, 10, 28, 9, 41, 7, 313);
  for (const [time, late, first] of [
    [0, 0, 0],
    [1_234_567, 59_999, 0],
    [5_000, 700, 40],
  ]) {
    const at = byTheClock(15, late, first, load)(time);
    assert.equal((load + at - late) % 900_000, 0);
    const least = Math.max(time, 60_000 * first);
    assert.ok(at > least && at <= least + 900_000, `${at}`);
  }
});

const question = (more = {}) => ({
  name: 'q',
  text: 't'.repeat(95),
  help: '',
  choices: ['No', 'Yes'],
  ...more,
});
const follows = question({ asked_if: { question: 'q', answers: [1] } });

test('only a Plan that passes questions over has moments', () => {
  assert.equal(minutesBetween({ questions: [question(), question({ skipped: 1 })] }), 0);
  assert.ok(minutesBetween({ questions: [question(), follows] }) > 0);
});

test('a minute for the ends, and for each question 20 s and one for every ten bytes', () => {
  assert.equal(minutesBetween({ questions: [question(), follows] }), 2); // 60 + 2 × 30 s
  assert.equal(minutesBetween({ questions: [question({ text: 't'.repeat(96) }), follows] }), 3);
  assert.equal(
    minutesBetween({
      questions: [question(), follows, ...Array(10).fill(question({ text: '字'.repeat(32) }))],
    }),
    8,
  ); // 60 + 12 × 30 or 31 s
});

test('the longest way takes less in the hands of somebody who reads half as fast as most, whatever is asked', () => {
  const minutes = minutesBetween({
    questions: [question(), question(), ...Array(6).fill(follows)],
  });
  assert.ok(minutes * 60 > 10 * 6 * 2); // ten screens of 6 s
});
