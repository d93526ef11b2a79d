import { printable } from '../../../common/printable.js';
import { createOccurrences } from '../../observability/occurrences.js';
import { MOST_OF_AN_ACCOUNT } from './own-connections.js';

/** Characters of a stranger's text that a line shows. */
const MOST_SHOWN = 128;

/**
 * Tells whoever reads the log who was turned away, and from what: of each device and what it did one line a minute, of failed
 * sign-ins one for each address, since their names are anybody's.
 *
 * @param {{ logger: import('pino').Logger, everyMs?: number }} parts
 */
export function createAccessNotices({ logger, everyMs }) {
  const occurrences = createOccurrences({ everyMs });

  /** @param {string} key @returns {boolean} whether a line is due */
  const isDue = (key) => occurrences.count(key) > 0;

  return {
    /** @param {string} name that was given @param {string} address that it came from */
    signIn(name, address) {
      const failed = occurrences.count(`sign-in ${address}`);
      if (failed === 0) return;
      logger.warn({ account: shown(name), address, failed }, 'wrong account or password, this one last');
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
     * @param {'publish' | 'subscribe' | 'filters' | 'will'} what
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
  filters: 'more filters than a connection may have, or a longer one; refused',
  will: 'a last will on a topic that it has no right to publish on; not let in',
};

/** @param {string} text */
const shown = (text) => printable(text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text);
