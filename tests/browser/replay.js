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
 * A case is a draw (words, report) of a channel or of a whole question, a draw by a key (key, first, report), a set that is drawn, a joint answer's cell, a loss,
 * or a Plan that is accepted or not.
 */
export async function failures(cases) {
  const found = await Promise.all(
    cases.map((each) => wrongWith(each).catch((error) => `${error}`)),
  );
  return found.map((wrong, i) => wrong && `${cases[i].name}: ${wrong}`).filter(Boolean);
}

const wrongWith = async (each) => {
  if ('key' in each) return wrongWave(each);
  if ('drawn' in each) return wrongSet(each);
  if ('cell' in each) return wrongCell(each);
  if ('question' in each) return wrongQuestion(each);
  if ('words' in each) return wrongDraw(each);
  if ('accepted' in each) return wrongVerdict(each);
  if ('loss' in each) return wrongLoss(each);
  throw new Error('expected words, a key, a loss or a verdict');
};

async function wrongDraw({ channel, answer, words, report }) {
  const { randomise } = await import(`${intake}/${channel.kind}.js`);
  const replayed = replay(words);
  const got = JSON.stringify(randomise(answer, channel, replayed));
  if (got !== JSON.stringify(report)) return `expected ${JSON.stringify(report)}, got ${got}`;
  return replayed.left() && `expected every word to be used, ${replayed.left()} are left`;
}

async function wrongSet({ weights, words, drawn }) {
  const { draw } = await import(`${intake}/blocks.js`);
  const replayed = replay(words);
  const got = draw(weights, replayed);
  if (got !== drawn) return `expected set ${drawn}, got ${got}`;
  return replayed.left() && `expected every word to be used, ${replayed.left()} are left`;
}

async function wrongCell({ choices, declining, answers, cell }) {
  const { encode } = await import(`${intake}/blocks.js`);
  const got = encode(answers, choices, declining);
  return got !== cell && `expected cell ${cell}, got ${got}`;
}

async function wrongQuestion({ question, answer, words, report }) {
  const { inputOf, prepare, randomise } = await import(`${intake}/channels.js`);
  await prepare({ questions: [question] });
  const replayed = replay(words);
  const got = JSON.stringify(randomise(question, inputOf(question, answer), replayed));
  if (got !== JSON.stringify(report)) return `expected ${JSON.stringify(report)}, got ${got}`;
  return replayed.left() && `expected every word to be used, ${replayed.left()} are left`;
}

async function wrongWave({ key, question, answer, first, report }) {
  const { aboutOf, block, draw, importKey } = await import(`${intake}/waves.js`);
  const { prepare } = await import(`${intake}/channels.js`);
  await prepare({ questions: [question] });
  const kept = await importKey(Uint8Array.from(key.match(/../g), (pair) => parseInt(pair, 16)));
  const about = await aboutOf(question, answer);
  const words = [...(await block(kept, about, 0)), ...(await block(kept, about, 1))].join();
  if (words !== first.join()) return `expected the words ${first}, got ${words}`;
  const got = JSON.stringify(await draw(kept, question, answer));
  return got !== JSON.stringify(report) && `expected ${JSON.stringify(report)}, got ${got}`;
}

async function wrongVerdict({ plan, accepted }) {
  const { prepare } = await import(`${intake}/channels.js`);
  const { verify } = await import(`${intake}/verify.js`);
  const cleartext = await import(`${intake}/cleartext.js`);
  const drawing = await import(`${intake}/drawn.js`);
  const got = await prepare(plan).then(
    () => thrown(() => verify(plan, cleartext.verify, drawing.verify)),
    (error) => error,
  );
  return (
    (got === null) !== accepted &&
    `expected it to be ${accepted ? 'accepted' : 'refused'}, got ${got}`
  );
}

async function wrongLoss({ channel, loss }) {
  const { lossOf } = await import(`${intake}/${channel.kind}.js`);
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
