// @ts-check
import { get } from '../api.js';
import { h } from '../kit.js';
import { makeThingFromAnswer } from '../drawer.js';
import { setParams } from '../route.js';

/** @type {import('../drawer.js').Kind} */
export const hash = {
  word: 'hash',
  json: (id) => `/find?q=${encodeURIComponent(id)}`,
  command: (id) => `curl '${location.origin}/find?q=${encodeURIComponent(id)}'`,
  make: (id) => makeThingFromAnswer(async (signal) => {
    const { hits } = await get('/find', { q: id }, signal);
    if (hits.length && !signal.aborted) setParams({ sel: `${hits[0].kind}:${hits[0].id}` }, true);
    return hits.length;
  }, (found) => (found ? null : h('p', { class: 'dim' }, 'No final block has anything of this hash.'))),
};
