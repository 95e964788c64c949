/** Replay shared vectors with the modules as they are shipped, in whatever engine runs this: nothing here needs Node. */

const intake = '../../surveys/intake/static/intake';

/** Return words that repeat a list, and say how many are left. */
export function replay(list) {
  const left = [...list];
  const words = () => {
    if (left.length === 0) throw new Error('expected no more words to be drawn');
    return left.shift();
  };
  return Object.assign(words, { left: () => left.length });
}

/**
 * Return what goes wrong, a sentence a case; nothing, if the engine agrees with Python in all of them.
 * A case is a draw (words, report), a loss, or a Plan that is accepted or not.
 */
export async function failures(cases) {
  const found = await Promise.all(cases.map((each) => wrongWith(each).catch((error) => `${error}`)));
  return found.map((wrong, i) => wrong && `${cases[i].name}: ${wrong}`).filter(Boolean);
}

const wrongWith = async (each) => {
  if ('words' in each) return wrongDraw(each);
  if ('accepted' in each) return wrongVerdict(each);
  if ('loss' in each) return wrongLoss(each);
  throw new Error('expected words, a loss or a verdict');
};

async function wrongDraw({ channel, answer, words, report }) {
  const { randomise } = await import(`${intake}/${channel.kind}.js`);
  const replayed = replay(words);
  const got = JSON.stringify(randomise(answer, channel, replayed));
  if (got !== JSON.stringify(report)) return `expected ${JSON.stringify(report)}, got ${got}`;
  return replayed.left() && `expected every word to be used, ${replayed.left()} are left`;
}

async function wrongVerdict({ plan, accepted }) {
  const { verify } = await import(`${intake}/verify.js`);
  const { verifyGiven } = await import(`${intake}/given.js`);
  const got = thrown(() => verify(plan, verifyGiven));
  return (got === null) !== accepted && `expected it to be ${accepted ? 'accepted' : 'refused'}, got ${got}`;
}

async function wrongLoss({ channel, loss }) {
  const { lossOf } = await import(`${intake}/verify.js`);
  const got = lossOf(channel).join('/');
  return got !== loss.join('/') && `expected ${loss.join('/')}, got ${got}`;
}

function thrown(run) {
  try {
    run();
    return null;
  } catch (error) {
    return error;
  }
}
