import { LRUCache } from 'lru-cache';
import { printable } from '../../../common/printable.js';
import { MOST_OF_AN_ACCOUNT } from './own-connections.js';

/** Between two lines about the same, in ms: a device that is turned away comes back at once. */
const EVERY_MS = 60_000;

/** Devices that are remembered to have been told of. */
const MOST_REMEMBERED = 10_000;

/** Characters of a stranger's text that a line shows. */
const MOST_SHOWN = 128;

/**
 * Tells whoever reads the log who was turned away, and from what: of each device and what it did one line a minute, of failed
 * sign-ins one in all, since their names are anybody's.
 *
 * @param {{ logger: import('pino').Logger, everyMs?: number }} parts
 */
export function createAccessNotices({ logger, everyMs = EVERY_MS }) {
  /** @type {LRUCache<string, true>} */
  const lately = new LRUCache({ max: MOST_REMEMBERED, ttl: everyMs });
  let failedSignIns = 0;

  /** @param {string} key @returns {boolean} whether a line is due */
  function isDue(key) {
    if (lately.has(key)) return false;
    lately.set(key, true);
    return true;
  }

  return {
    /** @param {string} name that was given */
    signIn(name) {
      failedSignIns++;
      if (!isDue('sign-in')) return;
      logger.warn(
        { account: shown(name), failed: failedSignIns },
        'wrong account or password, this one last',
      );
      failedSignIns = 0;
    },

    /** @param {string} account */
    tooMany(account) {
      if (isDue(`connections ${account}`)) {
        logger.warn(
          { account, most: MOST_OF_AN_ACCOUNT },
          'too many connections of one account; the oldest closed',
        );
      }
    },

    /**
     * @param {string} account
     * @param {'publish' | 'subscribe' | 'will'} what
     * @param {string} topic or filter
     */
    forbidden(account, what, topic) {
      if (isDue(`${what} ${account}`)) logger.warn({ account, what, topic: shown(topic) }, WORDS[what]);
    },
  };
}

/** @typedef {ReturnType<typeof createAccessNotices>} AccessNotices */

const WORDS = {
  publish: 'a topic that it has no right to publish on; connection closed',
  subscribe: 'a filter that it has no right to follow; refused',
  will: 'a last will on a topic that it has no right to publish on; not let in',
};

/** @param {string} text */
const shown = (text) => printable(text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text);
