import { createOccurrences } from '../../observability/occurrences.js';

/**
 * Tells whoever reads the log who shows wrong tokens: a line a minute for each address, and one when it is told to wait.
 *
 * @param {{ logger: import('pino').Logger, everyMs?: number }} parts
 */
export function createTokenNotices({ logger, everyMs }) {
  const occurrences = createOccurrences({ everyMs });

  return {
    /** @param {string} address that showed one */
    wrong(address) {
      const wrong = occurrences.count(`wrong ${address}`);
      if (wrong > 0) logger.warn({ address, wrong }, 'a wrong token');
    },

    /** @param {string} address that showed too many */
    tooMany(address) {
      const refused = occurrences.count(`too many ${address}`);
      if (refused > 0) logger.warn({ address, refused }, 'too many wrong tokens; told to wait');
    },
  };
}

/** @typedef {ReturnType<typeof createTokenNotices>} TokenNotices */
