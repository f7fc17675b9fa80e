// @ts-check
// The kinds of things that the drawer shows.
import { account } from './account.js';
import { actor } from './actor.js';
import { block } from './block.js';
import { hash } from './hash.js';
import { job } from './job.js';
import { runner } from './runner.js';
import { timer } from './timer.js';
import { tx } from './tx.js';
import { validator } from './validator.js';
import { view } from './view.js';

/** @type {{[name: string]: import('../drawer.js').Kind}} */
export const kinds = { account, actor, block, hash, job, runner, timer, tx, validator, view };
