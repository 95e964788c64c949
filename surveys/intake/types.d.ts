/** The shapes that the form's modules share: what a Plan says, what a report holds. Checked, never shipped. */

/** Independent, uniform integers below 2³². */
type Words = () => number;

/** What counts of reports are turned into people by; integers above 2⁵³ − 1 as decimal strings. */
type Decoder = { rows: (number | string)[][]; scale: number | string };
type Table = { kind: 'table'; weights: number[][]; decoder?: Decoder };
type Subset = { kind: 'subset'; choices: number; size: number; keep: number };
/** An option and whether it is ticked, or so many from it on together. */
type OneOf = { kind: 'one_of'; options: number; keep: number; together?: number };
/** Steps from 0 that have a row of weights, the rows, and what each report is worth: scale × steps. */
type NumberChannel = {
  kind: 'number';
  grid: number[];
  weights: number[][];
  decoder: (number | string)[];
  scale: number | string;
};
type Channel = Table | Subset | OneOf | NumberChannel;

/** What is estimated from a channel's reports. */
type Learns = 'shares' | 'ticks' | 'mean' | 'distribution';
/** Whose channel it is. */
type Asked = Pick<Question, 'channel' | 'wanted'> & { name?: string };
/** What a channel is: nobody else asks for its kind. Chances are of 1. */
type ChannelModule = {
  learns: Learns;
  /** The parts that its document may have, with spaces between. */
  parts: string;
  /** Throw an Error of what is wrong with a question's channel; its losses apart. */
  verify(question: any): void;
  /** e^ε, exactly: how much likelier one answer can make a report than another. */
  lossOf(channel: any): Ratio;
  /** What of an answer is randomised, where that is not the answer. */
  inputOf?(question: Question, answer: Answer): Answer;
  randomise(input: any, channel: any, words?: Words): Value;
  /** The words for its odds. */
  tellingOf(channel: any): Telling;
  /** The chance that a report speaks for the answer; whether one does; the same without the answer. */
  shareOf(channel: any, input: any): number;
  holds(channel: any, input: any, value: any): boolean;
  luckOf(channel: any): number;
  /** The options that a value is about, and whether it says that each is ticked. */
  saidOf?(channel: any, value: any): [number, boolean][];
  /** How many different marks a number can be sent as. */
  marksOf?(channel: any): number;
};

/** e^ε as a fraction; integers above 2⁵³ − 1 as decimal strings. */
type Loss = [number | string, number | string];
/** A loss as numerator and denominator, reduced. */
type Ratio = [bigint, bigint];

type Question = {
  name: string;
  kind: 'yes_no' | 'single' | 'multiple' | 'likert' | 'number' | 'month' | 'date';
  protection: 'device' | 'publication';
  text: string;
  label: string;
  help: string;
  choices: string[];
  /** 1: the last choice is "Prefer not to say". */
  codes?: string[];
  decline: 0 | 1;
  /** The last choice is "Does not apply", which is chosen; with `asked_if` it is "Not asked", which this device fills in. */
  skipped?: 1;
  /** The answers after which it is asked: after others it is passed over. */
  asked_if?: { question: string; answers: number[] };
  /** The question it follows from, where everybody is asked it: publications count both as one answer. */
  follows?: string;
  /** The matrix in which this scale is a row. */
  group?: { name: string; text: string };
  picture?: Picture;
  /** Of protection device. */
  channel?: Channel;
  loss?: Loss;
  /** Of a number, and of a month: year × 12 + (month − 1). */
  least?: number;
  most?: number;
  unit?: string;
  /** What of a number, changed on the device, can be estimated; of a distribution, how many bins. */
  wanted?: 'mean' | 'distribution';
  bins?: number;
  /** Made here, of no Plan: what it is sent in with other questions. */
  sentAs?: Question;
  /** The numbers on this device of those questions. */
  numbers?: string[];
  /** Of what some are sent in: these questions. */
  together?: Question[];
  /** The answer that stands for everyone's. */
  example?: number;
};
/** Served at /pictures/<sha256>, and never another one. */
type Picture = { sha256: string; type: string; width: number; height: number; text: string };
type DeviceQuestion = Question & { channel: Channel };
type Plan = {
  format: 1;
  slug: string;
  wave: number;
  unit: string;
  title: string;
  organisation: string;
  purpose: string;
  contact: string;
  language: string;
  translations?: Record<string, Texts>;
  /** Absent: one question a screen. */
  layout?: 'page';
  /** How many waves the study plans, and whether chance is thrown anew in each; absent: its first Plan was made before. */
  waves?: number;
  draws?: 'fresh' | 'kept';
  questions: Question[];
  /** What is drawn as one, and the sets of it of which each device draws one; absent: all is asked. */
  blocks?: Block[];
  drawn?: DrawnSet[];
  /** Made here: what is sent, where that is not each question by itself. */
  sent?: Question[];
  loss: Loss;
  /** ε as decimal strings of at most nine places. */
  caps: { central_epsilon: string; central_delta?: string; central_rho?: string };
  publication: {
    epsilon: string;
    smallest_batch: number;
    rho?: string;
    accounting?: number;
    counts?: string;
    widest?: number;
  };
  neighbours: string;
  invited?: Invited;
};
/** The list of people whom a Plan asks; minutes between common moments; a day of UTC before which only tickets are fetched. */
type Invited = { strata: Stratum[]; moments: number; answers_from?: string };
/** The modulus of its tickets' key, in hex. */
type Stratum = { key: string; name: string; people: number };
/** Names of questions; where their answers are sent as one, what that is called, its channel and loss, and whether declining one declines all. */
type Block = { questions: string[]; name?: string; decline?: 0 | 1; channel?: Subset; loss?: Loss };
type JointParts = { name: string; channel: Subset; loss: Loss };
/** A block sent as one answer: what its channel loses, and what it declares. */
type JointBlock = { name: string; questions: string[]; loss: Loss; found: Ratio };
type CheckedBlock = CheckedQuestion & { questions: string[] };
/** Indices of blocks. */
type DrawnSet = { blocks: number[]; weight: number };
/** A Plan's texts in another language; what is not in it stays as it is. */
type Texts = {
  title?: string;
  organisation?: string;
  purpose?: string;
  questions?: Record<string, QuestionTexts>;
};
type QuestionTexts = {
  text?: string;
  label?: string;
  help?: string;
  choices?: string[];
  unit?: string;
  group?: string;
  picture?: string;
};
/** Why there is no Plan to show. */
type Reason = 'missing' | 'unreachable' | 'fingerprint';

type Losses = { declared: Ratio; found: Ratio; number?: number };
type CheckedQuestion = { name: string; declared: Ratio; found: Ratio };
type NumberedQuestion = CheckedQuestion & { number: number };
type Checked = {
  questions: NumberedQuestion[];
  declared: Ratio;
  found: Ratio;
  blocks?: CheckedBlock[];
};
/** `minutes`: between the moments at which a message may leave; 0: it leaves at once. `readers`: how often their guess of an answer sent as given is right. */
type Study = {
  plan: Plan;
  /** How many questions the study has; those of `plan` are what this device asks. */
  all: number;
  digest: string;
  checked: Checked;
  linked: boolean;
  minutes: number;
  /** Return the next of those moments: now is said, if at all, in ms since the page was loaded, and so is it. */
  after: (time?: number) => number;
  readers: number;
};
/** What the link of a letter brings: an index of a stratum, and 128 bits that the list has once. */
type Letter = { stratum: number; code: string };
/** A ticket's secrets until it is here, in hex: 32 bytes of chance, the inverse of the blinding factor, what is posted. */
type Blinded = { prefix: string; factor: string; blinded: string };
type Asking = Letter & Blinded & { title: string };
/** `signature` in base64url. */
type Ticket = { title: string; stratum: number; prefix: string; signature: string };
type Kept = Asking | Ticket;
/** What became of asking the issuer. */
type Answered = 'ticket' | 'unknown' | 'fetched' | 'closed' | 'busy' | 'offline' | 'unsound';
/** The issuer's origin, '' for this page's; a test puts its own in place of the rest. */
type Issuer = { address: string; post?: typeof fetch; storage?: Storage; locks?: LockManager };

/** One randomised value. */
type Value = number | number[];
/** A true answer: an index, the ticked ones in rising order, or a number's steps from `least` (as given: itself). */
type Answer = number | number[];
type Answers = ReadonlyMap<string, Answer>;
/** What leaves the device. */
type Message = {
  plan: string;
  report_id: string;
  answers: Record<string, Answer | Value>;
  ticket?: Omit<Ticket, 'title'>;
};
type Pair = { question: Question; answer: Answer; value: Value };
type Accepted = { state: 'accepted'; receipt: string; day: string };
type Later = {
  state: 'later';
  why: 'offline' | 'stranger' | 'busy';
  message: string;
  after?: number;
}; // milliseconds
type Outcome = Accepted | Later | { state: 'conflict' | 'closed' | 'malformed'; message: string };

/** What sending reaches for: a test puts its own in place. */
type Outside = { post?: typeof fetch; storage?: Storage | null };
/** What form.js gives to receipt.js: where to send, and how to go on. */
type Sending = {
  slug: string;
  title: (screen?: string) => void;
  refuse: (reason: string, details?: string) => void;
  /** Forget the answers: they have been sent, or refused. */
  done: () => void;
  /** They have been taken. */
  sent: () => void;
  /** What a report has for its ticket, where people are invited; and to be told what became of it. */
  spent?: () => Pick<Message, 'report_id' | 'ticket'> | undefined;
  settled?: (study: Study, state: string) => void;
  outside?: Outside;
  padding?: (plan: Plan, answers: ReadonlyMap<string, Answer>) => string;
};
/** A message on its way; its answers are empty when it waited here from an earlier visit. */
type Visit = {
  study: Study;
  sending: Sending;
  answers: Map<string, Answer>;
  body: string;
  /** Whether it has a line in the statement. */
  listed: boolean;
  wait: number;
  timer?: ReturnType<typeof setTimeout>;
  busy?: boolean;
  /** The device came online during an attempt. */
  again?: boolean;
  over?: boolean;
};
/** What came back, and what had been sent. */
type Acknowledged = {
  receipt: string;
  named: string;
  day: string;
  body: string;
  keyed: boolean;
  listed: boolean;
};

/** A study's key for draws; whether it was here before, and whether it is kept. */
type StudyKey = { key: CryptoKey; before: boolean; kept: boolean };
/** A line of my privacy statement: never an answer, never a report. */
type Line = {
  slug: string;
  title: string;
  wave: number;
  digest: string;
  day: string;
  /** What was found of it, for what was changed on the device. */
  loss: [string, string];
  /** How many questions were sent as given. */
  given: number;
  /** Whether the study's key was here before. */
  again: boolean;
  state: 'unsure' | 'sent' | 'refused';
  receipt?: string;
};
/** An unfinished form, kept because it was asked for. */
type Draft = { title: string; until: string; answers: [string, Answer][] };
/** Sample throws so far, and how many kept the example answer. */
type Tally = { throws: number; kept: number };

/**
 * How odds are told to people. flip: two answers, one for the other. spread: all others alike. uneven: depends on
 * the answer. several: more than one choice is sent. one-of, some-of: ticks of an option, or several. ends, near: a number, for its mean or spread.
 */
type Telling =
  'flip' | 'flip-uneven' | 'spread' | 'uneven' | 'several' | 'one-of' | 'some-of' | 'ends' | 'near';
