// @ts-check
// Space-time: frames between nodes. Nothing records them yet, and the view says so.
import { empty, h, link } from '../kit.js';
import { href } from '../route.js';

export const spacetime = { id: 'spacetime', title: 'Space-time', key: 's', make };

function make() {
  return {
    el: h('div', { class: 'cards' }, h('section', { class: 'card whole' }, h('h2', null, 'Space-time'),
      empty('This view is not built yet. It will show each frame as a line from the node that sends it to the one that gets it, with what was lost and why.'),
      h('p', null, 'Frames are not kept today: it needs the recorder, which comes with the time machine. Recording will begin with a button here.'),
      h('p', null, 'Until then: ', link(href('views'), 'Views'), ' says why each view failed and who gave it up; ', link(href('network'), 'Network'), ' shows votes and links. A simulated run prints its views and deeds where it fails:'),
      h('div', { class: 'typed' }, h('code', null, 'devnet run SCRIPT.star --backend sim')))),
    draw() { /* nothing moves */ },
  };
}
