// @ts-check
// Pause, resume, time travel, who joins, what was done by hand as a script, and parameters.
import { devnetCommand, get, post, quoteForShell } from './api.js';
import { formatCount, formatPlural } from './format.js';
import { makeActionButton, runOrder, makeCopyButton, makeField, fillElement, h, makeTable, trackLatestCall, showIf } from './kit.js';
import * as store from './store.js';

export function makeSteering() {
  const pause = makeActionButton('pause', devnetCommand('pause'), async () => {
    const p = await post('/devnet/pause');
    return `paused at height ${formatCount(p.height)}`;
  });
  const resume = makeActionButton('resume', devnetCommand('resume'), async () => {
    await post('/devnet/resume');
    return 'blocks are made again';
  }, 'primary');
  const blocks = makeField('blocks', { type: 'number', value: 100, min: 1, max: 1000000 });
  const go = h('button', { type: 'button' }, 'advance');
  go.addEventListener('click', () => runOrder(go, async () => describeAdvance(await post('/devnet/advance', { blocks: Number(blocks.input.value) }))));
  blocks.el.firstElementChild.remove();
  blocks.input.setAttribute('aria-label', 'how many blocks to advance');
  const toNextTimer = makeActionButton('to the next timer', devnetCommand('advance --to-next-timer'), async () => describeAdvance(await post('/devnet/advance', { to_next_timer: true })));
  const join = makeActionButton('a validator joins', devnetCommand('validator join'), async () => {
    const m = await post('/devnet/validator/join', {});
    return `${m.name} joins at height ${formatCount(m.height)}`;
  });
  const runner = makeActionButton('a runner joins', devnetCommand('runner join'), async () => {
    const r = await post('/devnet/runner/join', {});
    return `${r.name || 'a runner'} joins`;
  });
  const copyScenario = makeActionButton('copy as scenario', devnetCommand('scenario'), async () => {
    const m = await get('/devnet/scenario');
    await navigator.clipboard.writeText(m.script);
    return `copied: what was done by hand, as a script of ${formatPlural(m.script.trim().split('\n').length, 'line')}${m.files.length ? '; devnet scenario FILE writes its actors beside it' : ''}`;
  });
  const el = h('div', null,
    h('div', { class: 'orders' }, pause, resume, h('span', { class: 'action' }, blocks.el, go, makeCopyButton(() => devnetCommand(`advance --blocks ${blocks.input.value}`), '$', 'copy as command: advance')), toNextTimer),
    h('div', { class: 'orders' }, join, runner, copyScenario), makeParameterTable());
  return {
    el,
    draw() {
      const paused = Boolean(store.latestBeat?.ready?.paused);
      showIf(pause, !paused);
      showIf(resume, paused);
    },
  };
}

/** @param {any} a */
function describeAdvance(a) {
  return `from height ${formatCount(a.from)} to ${formatCount(a.to)}: ${formatPlural(a.blocks, 'block')}, ${formatCount(a.skipped)} skipped, ${formatPlural(a.fired, 'timer')} fired`;
}

/** makeParameterTable asks for the parameters in force when it is opened. */
function makeParameterTable() {
  const place = h('div');
  const key = makeField('parameter', { list: 'params', size: 24 });
  const value = makeField('value', { size: 10 });
  const known = h('datalist', { id: 'params' });
  const set = h('button', { type: 'button' }, 'set');
  const el = h('details', null, h('summary', null, 'parameters'), h('div', { class: 'orders' }, key.el, value.el, known,
    h('span', { class: 'action' }, set, makeCopyButton(() => devnetCommand(`params set ${quoteForShell(key.input.value)} ${quoteForShell(value.input.value)}`), '$', 'copy as command: params set'))), place);
  const trackCall = trackLatestCall();
  const load = async () => {
    const latest = trackCall();
    try {
      const all = await get('/params');
      if (!latest()) return;
      fillElement(known, all.filter((/** @type {any} */ p) => p.class !== 'genesis').map((/** @type {any} */ p) => h('option', { value: p.key }, p.value)));
      fillElement(place, makeTable(['key', 'value', 'default', 'changes'], all.map((/** @type {any} */ p) => [p.key, h('span', { 'data-tone': p.value === p.default ? '' : 'warn' }, p.value), p.default, p.class === 'genesis' ? 'never' : `each ${p.class}`])));
    } catch (e) {
      if (latest()) fillElement(place, /** @type {any} */ (e).message);
    }
  };
  el.addEventListener('toggle', () => { if (el.open) load(); });
  set.addEventListener('click', () => runOrder(set, async () => {
    const c = await post('/devnet/params', { key: key.input.value, value: value.input.value });
    load();
    return `${c.key} is ${c.value} from height ${formatCount(c.height)} on`;
  }));
  return el;
}
