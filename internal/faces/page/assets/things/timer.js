// @ts-check
import { devnetCommand, get, encodePathPart, post } from '../api.js';
import { formatBytes, formatCount, formatMoney, formatPlural, shortenID, formatWei } from '../format.js';
import { makeActionButton, makeAmount, makeTextBlock, makeFactList, h, makeLink, makeTable, makeTerm, makeCommandLine } from '../kit.js';
import { explainTimer } from '../because.js';
import { reloadThing, makeThingFromAnswer } from '../drawer.js';
import { heightIfBornLater, momentOf, makeNotYetNote } from '../moment.js';
import { makeNameLink } from '../names.js';
import { thingHref } from '../route.js';
import * as store from '../store.js';
import { makeReceipt, makeTraceButton } from '../receipt.js';
import { makeStoryLane } from '../storylane.js';
import { REASONS } from '../words.js';

/** @type {import('../drawer.js').Kind} */
export const timer = {
  word: 'timer',
  json: (id) => `/timer/${encodePathPart(id)}/story`,
  command: (id) => `timer show ${id}`,
  make: (id) => makeThingFromAnswer(async (signal) => {
    const at = momentOf();
    const born = await heightIfBornLater(`/timer/${encodePathPart(id)}`, 'scheduled_at', at, signal);
    if (born) return { born, at };
    const story = await get(`/timer/${encodePathPart(id)}/story`, { at }, signal);
    const detail = story.timer.status === 'fired' ? await get(`/timer/${encodePathPart(story.timer.id)}`, { at }, signal) : null;
    const { height, ended_at: ended } = story.timer;
    await Promise.all([Math.min(height, story.height), ended ?? story.height].map((n) => store.waitForRows('blocks', 1, n)));
    return { story, detail };
  }, (/** @type {any} */ { born, story, detail, at }) => {
    if (born) return makeNotYetNote('scheduled', born, at);
    const t = story.timer;
    return [
      h('p', { class: 'sentence' }, describeTimer(t)),
      makeStoryLane(t, story.story, story.height),
      explainTimer(t, story.story, story.height),
      h('h3', null, 'Its story'),
      makeTable(['block', 'what', 'why'], story.story.map((/** @type {any} */ e) => [e.from === e.to ? makeLink(thingHref(`block:${e.from}`), formatCount(e.from)) : `${formatCount(e.from)}–${formatCount(e.to)}`,
        describeEvent(e), [e.reason ? makeTerm(e.reason.replaceAll('_', ' ')) : '', e.paid ? ` paid ${formatMoney(e.paid.fee_paid)}` : '']])),
      story.next ? [h('p', { class: 'dim' }, 'There is more of it:'), makeCommandLine(devnetCommand(`timer show ${shortenID(t.id)}`))] : null,
      makeFactList([['actor', [makeNameLink(t.actor), '.', t.handler]], ['due at', makeLink(thingHref(`block:${t.height}`), formatCount(t.height))], ['status', h('span', { 'data-tone': t.status === 'fired' ? 'good' : t.status === 'pending' ? '' : 'bad' }, t.status)],
        ['tier', makeTerm(t.tier || '')], ['reason', makeTerm((t.reason || '').replaceAll('_', ' '))], ['deferred', t.deferrals ? formatPlural(t.deferrals, 'time') : ''], ['scheduled at', makeLink(thingHref(`block:${t.scheduled_at}`), formatCount(t.scheduled_at))], ['ended at', t.ended_at ? makeLink(thingHref(`block:${t.ended_at}`), formatCount(t.ended_at)) : ''],
        ['expires at', formatCount(t.expires_at)], ['payer', makeNameLink(t.fee_payer)], ['watches', t.watch ? [makeNameLink(t.watch.actor), ' ', formatBytes(t.watch.key)] : ''], ['agent', makeNameLink(t.gba)], ['cycles', `${formatCount(t.cycles_used)} of ${t.gas_limit ? formatCount(t.gas_limit) : 'the cap'}`],
        ['fee', t.fee_paid === '0' ? '' : makeAmount(t.fee_paid)], ['priority', t.priority === '0' ? '' : `${formatCount(t.priority)} wei a cycle`], ['weight of its actor', t.weight === '1/1' ? '' : t.weight]]),
      t.payload && t.payload !== '0x' ? [h('h3', null, 'Payload'), makeTextBlock(formatBytes(t.payload))] : null,
      t.status === 'pending' && !store.latestBeat?.ready?.strict ? h('p', null, makeActionButton('cancel', devnetCommand(`timer cancel ${shortenID(t.id)}`), async () => {
        const r = await post('/devnet/timer/cancel', { id: t.id });
        reloadThing();
        return `the timer is ${r.status}`;
      }, 'danger')) : null,
      detail?.receipt ? [h('h3', null, 'Receipt of its fire'), makeReceipt(detail.receipt), makeTraceButton(t.id)] : null,
    ];
  }),
};

/** @param {any} t */
function describeTimer(t) {
  const late = t.ended_at && t.ended_at > t.height ? `, ${formatPlural(t.ended_at - t.height, 'block')} late` : '';
  switch (t.status) {
    case 'fired': return `It fired in block ${formatCount(t.ended_at)}${late}, and its handler ended ${t.result}.`;
    case 'pending': return t.deferrals ? `It is due since block ${formatCount(t.height)} and waits: ${REASONS[t.reason] || t.reason}.` : `It is due in block ${formatCount(t.height)}.`;
    case 'cancelled': return `It was cancelled in block ${formatCount(t.ended_at)}.`;
    case 'expired': return `It expired in block ${formatCount(t.ended_at)} before its turn.`;
    default: return `It ended in block ${formatCount(t.ended_at)}: its payer could not pay.`;
  }
}

/** @param {any} e */
function describeEvent(e) {
  if (e.kind === 'moved') return `moved from ${e.tier_from} to ${e.tier}`;
  if (e.kind === 'scheduled') return `scheduled into ${e.tier}`;
  if (e.kind === 'deferred') return `deferred${e.blocks > 1 ? ` in ${formatCount(e.blocks)} blocks` : ''}`;
  return e.kind.replaceAll('_', ' ');
}
