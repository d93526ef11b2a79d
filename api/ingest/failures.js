import { MillraceError } from '../../common/errors.js';

/**
 * What a failure makes of the message that met it.
 *
 * @param {{ patience: import('../patience.js').Patience, logger: import('pino').Logger }} parts
 */
export function createFailures({ patience, logger }) {
  return {
    /**
     * An error that nobody foresaw is a defect of ours. Unacknowledged, the message would come again and meet it again,
     * for ever; a dead letter keeps it until the defect is mended.
     *
     * @param {unknown} error
     * @param {import('./accept.js').Message} message
     * @returns {import('../../common/errors.js').ErrorCode} with which the message is refused
     * @throws the same error where the message must stay unacknowledged: for trouble that passes, and for whatever
     *   breaks while the process ends
     */
    codeOf(error, { topic }) {
      if (error instanceof MillraceError && error.code !== 'unavailable') return error.code;
      if (error instanceof MillraceError || patience.gaveUp) throw error;
      logger.error(
        { err: error, topic },
        'a defect: the message is kept as a dead letter; please report this',
      );
      return 'rejected';
    },
  };
}

/** @typedef {ReturnType<typeof createFailures>} Failures */
