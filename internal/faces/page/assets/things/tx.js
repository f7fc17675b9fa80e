// @ts-check
import { get, encodePathPart } from '../api.js';
import { formatBytes, formatCount, shortenID } from '../format.js';
import { makeTextBlock, makeFactList, h, makeLink } from '../kit.js';
import { explainFailedReceipt } from '../because.js';
import { makeThingFromAnswer } from '../drawer.js';
import { makeNameLink } from '../names.js';
import { thingHref } from '../route.js';
import { makeReceipt, makeTraceButton } from '../receipt.js';

/** @type {import('../drawer.js').Kind} */
export const tx = {
  word: 'transaction',
  json: (id) => `/transaction/${encodePathPart(id)}/receipt`,
  command: (id) => `tx ${id} --trace`,
  make: (id) => makeThingFromAnswer(async (signal) => {
    const signed = await get(`/transaction/${encodePathPart(id)}`, {}, signal).catch(() => null);
    const receipt = await get(`/transaction/${encodePathPart(id)}/receipt`, {}, signal).catch((e) => (signed ? null : Promise.reject(e)));
    return { signed, receipt };
  }, ({ signed, receipt }) => [
    signed && !receipt ? h('p', { class: 'warn' }, 'It waits in a pool; no final block holds it.') : null,
    receipt ? explainFailedReceipt(receipt) : null,
    receipt ? makeReceipt(receipt) : null,
    signed ? h('details', null, h('summary', null, 'as it was signed'), makeFactList([['hash', signed.hash], ['sender', makeNameLink(signed.sender)], ['nonce', formatCount(signed.nonce)], ['kind', signed.kind], ['to', makeNameLink(signed.to)],
      ['value', signed.value === '0' ? '' : formatCount(signed.value) + ' wei'], ['limits', `${formatCount(signed.cycles_limit)} cycles, ${formatCount(signed.cells_limit)} cells`],
      ['max fees', `${formatCount(signed.max_fee_per_cycle)} a cycle, ${formatCount(signed.max_fee_per_cell)} a cell`], ['tips', `${formatCount(signed.max_priority_fee_per_cycle)} a cycle, ${formatCount(signed.max_priority_fee_per_cell)} a cell`]]),
    makeTextBlock(formatBytes(signed.payload))) : null,
    receipt ? makeTraceButton(receipt.hash) : null,
    receipt ? h('p', null, makeLink(thingHref(`block:${receipt.height}`), `block ${formatCount(receipt.height)}`), ' ', shortenID(id)) : null,
  ]),
};
