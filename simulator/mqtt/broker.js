import { readFileSync } from 'node:fs';
import { embeddedBrokerUrl } from '../../common/addresses.js';
import { MillraceError } from '../../common/errors.js';

/**
 * Which broker, and as whom: `--broker`, else `MQTT_URL`, else where the embedded broker listens.
 *
 * @param {import('../../common/settings.js').Config['mqtt']} settings
 * @param {string} [url] as given by `--broker`
 * @returns {import('./connection.js').Broker}
 * @throws {MillraceError} `bad_settings` when MQTT_TLS_CA cannot be read, or the broker's address is one without TLS
 */
export function chooseBroker(settings, url = settings.url ?? embeddedBrokerUrl(settings)) {
  const { username, password, tlsCa } = settings;
  if (tlsCa && !url.startsWith('mqtts:')) {
    // The connection would be open, without a word.
    throw new MillraceError('bad_settings', `${shownUrl(url)} must be mqtts:// where MQTT_TLS_CA is set.`);
  }
  return { url, username, password, ...(tlsCa ? { ca: readCa(tlsCa) } : {}) };
}

/** @param {string} path */
function readCa(path) {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new MillraceError('bad_settings', `MQTT_TLS_CA: ${path} cannot be read`, { cause: error });
  }
}

/** @param {string} url @returns {string} without credentials, for people and logs */
export const shownUrl = (url) => url.replace(/\/\/[^@]*@/, '//');
