import { MAX_STATEMENTS_PER_BATCH } from '../../../schema/rules.js';
import { batchFrame } from './frames.js';

/**
 * The group commit of `latest` at its leanest: one batch of a group in flight, the next gathers meanwhile.
 *
 * @param {(frame: Buffer, answered: () => void) => void} send
 */
export function createGroups(send) {
  /** @type {Map<number, { busy: boolean, entries: Buffer[], done: Array<() => void> }>} */
  const groups = new Map();

  /** @param {{ busy: boolean, entries: Buffer[], done: Array<() => void> }} group */
  function flush(group) {
    const entries = group.entries;
    const done = group.done;
    if (entries.length === 0) return;
    group.busy = true;
    group.entries = [];
    group.done = [];
    let left = Math.ceil(entries.length / MAX_STATEMENTS_PER_BATCH);
    for (let at = 0; at < entries.length; at += MAX_STATEMENTS_PER_BATCH) {
      send(batchFrame(entries.slice(at, at + MAX_STATEMENTS_PER_BATCH)), () => {
        if (--left > 0) return;
        group.busy = false;
        for (const settle of done) settle();
        flush(group);
      });
    }
  }

  return {
    /** @param {number} key @param {Buffer[]} updates @param {() => void} settled */
    add(key, updates, settled) {
      let group = groups.get(key);
      if (!group) {
        group = { busy: false, entries: [], done: [] };
        groups.set(key, group);
      }
      group.entries.push(...updates);
      group.done.push(settled);
      if (!group.busy) flush(group);
    },
  };
}
