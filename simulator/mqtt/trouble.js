import { MillraceError } from '../../common/errors.js';
import { shownUrl } from './broker.js';

/** @import { StatusLine } from '../../common/status-line.js' */
/** @import { Broker } from './connection.js' */

/**
 * Says once why devices have no connection, however many they are, and again when the reason changes or comes back.
 *
 * @param {StatusLine} statusLine
 */
export function createTroubleReporter(statusLine) {
  let said = '';
  return {
    /** @param {string} reason */
    report(reason) {
      if (reason !== said) statusLine.print(`No connection: ${reason}; trying again`);
      said = reason;
    },
    /** All are connected: the next trouble is news. */
    over() {
      said = '';
    },
  };
}

/** @param {Broker} broker @param {string} reason @returns {MillraceError} `broker_away` */
export const refusal = ({ url, secrets }, reason) =>
  new MillraceError(
    'broker_away',
    `The broker at ${shownUrl(url)} refuses us (${reason}). ${secrets ? MEND.file : MEND.settings}`,
  );

const MEND = {
  settings:
    'Set MQTT_USERNAME and MQTT_PASSWORD to what it takes, or give the devices their own --credentials.',
  file: 'Issue what is missing in the file of --credentials, or rotate what is wrong, with --file.',
};

/** @param {string} url @returns {MillraceError} `broker_away` */
export const neverConnected = (url) =>
  new MillraceError(
    'broker_away',
    `The broker at ${shownUrl(url)} could not be reached. Check that the broker runs there.`,
  );

/** @param {string} url @returns {MillraceError} `broker_away` */
export const unreachable = (url) =>
  new MillraceError(
    'broker_away',
    `No measurement was acknowledged by ${shownUrl(url)}. Check that the broker runs there and that what ` +
      'takes the measurements can store them.',
  );
