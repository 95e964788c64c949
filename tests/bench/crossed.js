/** Cross tickets with an independent implementation, so many each way: node tests/bench/crossed.js 1000 */
import { newKeys, oursForThePeer, thePeersForUs } from '../browser/peer.js';

const DIGEST = 'ab'.repeat(32);
const many = Number(process.argv[2]);
const keys = await newKeys();
const good = { ours: 0, theirs: 0 };
for (let at = 0; at < many; at += 1) {
  good.ours += Number(await oursForThePeer(keys, DIGEST));
  good.theirs += Number(await thePeersForUs(keys, DIGEST));
}
console.log(JSON.stringify(good));
