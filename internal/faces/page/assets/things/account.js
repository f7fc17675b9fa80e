// @ts-check
import { devnetCommand, get, encodePathPart, post } from '../api.js';
import { formatCount, formatMoney, shortenID } from '../format.js';
import { makeActionButton, makeAmount, makeFactList, h } from '../kit.js';
import { makeThingFromAnswer } from '../drawer.js';
import { momentOf } from '../moment.js';
import * as store from '../store.js';

/** @type {import('../drawer.js').Kind} */
export const account = {
  word: 'account',
  json: (id) => `/account/${encodePathPart(id)}`,
  command: (id) => `account ${id}`,
  make: (id) => makeThingFromAnswer((signal) => get(`/account/${encodePathPart(id)}`, { at: momentOf() }, signal), (a) => [
    makeFactList([['name', a.name], ['address', a.address], ['balance', makeAmount(a.balance)], ['next nonce', formatCount(a.nonce)]]),
    store.latestBeat?.ready?.strict ? null : h('p', null, makeActionButton('faucet', devnetCommand(`faucet ${id}`), async () => {
      const f = await post('/faucet', { address: id });
      return `${formatMoney(f.amount)} for ${shortenID(id)}`;
    })),
  ]),
};
