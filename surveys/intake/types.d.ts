/** The shapes that the form's modules share: what a Plan says, what a report holds. Checked, never shipped. */

/** Independent, uniform integers below 2³². */
type Words = () => number;

/** What counts of reports are turned into people by; integers above 2⁵³ − 1 as decimal strings. */
type Decoder = { rows: (number | string)[][]; scale: number | string };
type Table = { kind: 'table'; weights: number[][]; decoder?: Decoder };
type Subset = { kind: 'subset'; choices: number; size: number; keep: number };
/** One option and its bit: the loss is that of a subset, one of two. */
type OneOf = { kind: 'one_of'; options: number; keep: number; choices?: 2; size?: 1 };
/** Of a question with one answer. */
type Channel = Table | Subset;
type AnyChannel = Channel | OneOf;

/** e^ε as a fraction; integers above 2⁵³ − 1 as decimal strings. */
type Loss = [number | string, number | string];
/** A loss as numerator and denominator, reduced. */
type Ratio = [bigint, bigint];

type Question = {
  name: string;
  kind: 'yes_no' | 'single' | 'likert' | 'number';
  protection: 'device' | 'publication';
  text: string;
  label: string;
  help: string;
  choices: string[];
  /** 1: the last choice is "Prefer not to say". */
  decline: 0 | 1;
  /** Of protection device. */
  channel?: Channel;
  loss?: Loss;
  /** Of a number, which is sent as given. */
  least?: number;
  most?: number;
  unit?: string;
};
type DeviceQuestion = Question & { channel: Channel };
type Plan = {
  format: 1;
  title: string;
  organisation: string;
  purpose: string;
  contact: string;
  language: string;
  questions: Question[];
  loss: Loss;
  /** ε as decimal strings of at most nine places. */
  caps: { central_epsilon: string; central_delta?: string; central_rho?: string };
  publication: { epsilon: string; smallest_batch: number; rho?: string };
};
type DevicePlan = Omit<Plan, 'questions'> & { questions: DeviceQuestion[] };
/** Why there is no Plan to show. */
type Reason = 'missing' | 'unreachable' | 'fingerprint';

type Losses = { declared: Ratio; found: Ratio; number?: number };
type CheckedQuestion = { name: string; declared: Ratio; found: Ratio };
type NumberedQuestion = CheckedQuestion & { number: number };
type Checked = { questions: NumberedQuestion[]; declared: Ratio; found: Ratio };
type Study = { plan: Plan; digest: string; checked: Checked; linked: boolean };
type DeviceStudy = Omit<Study, 'plan'> & { plan: DevicePlan };
/** The screens, and what a Plan with something sent as given needs beside them. */
type Given = typeof import('./static/intake/given.js');
type Screens = Omit<Given, 'verifyGiven' | 'read' | 'outside' | 'padding' | 'expectWords'> & Partial<Given>;

/** One randomised value. */
type Value = number | number[];
/** What leaves the device. */
type Message = { plan: string; report_id: string; answers: Record<string, Value> };
type Pair = { question: Question; answer: number; value: Value };
type Accepted = { state: 'accepted'; receipt: string; day: string };
type Outcome = Accepted | { state: 'conflict' | 'closed' | 'malformed' | 'later'; message: string };

/** What sending reaches for: a test puts its own in place. */
type Outside = { post?: typeof fetch; storage?: Storage | null };
/** What came back, and what had been sent. */
type Acknowledged = { receipt: string; named: string; day: string; body: string };
/** Sample throws so far, and how many kept the example answer. */
type Tally = { throws: number; kept: number };

/**
 * How odds are told to people. flip: two answers, one for the other. spread: all others alike. uneven: depends on
 * the answer. several: more than one choice is sent.
 */
type Telling = 'flip' | 'flip-uneven' | 'spread' | 'uneven' | 'several';
