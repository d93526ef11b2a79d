import { readFileSync } from 'node:fs';
import { MillraceError } from '../../common/errors.js';

/**
 * Which broker, and as whom: `--broker`, else `MQTT_URL`, else where the embedded broker listens.
 *
 * @param {import('../../common/settings.js').Config['mqtt']} settings
 * @param {string} [url] as given by `--broker`
 * @returns {import('./connection.js').Broker}
 * @throws {MillraceError} `bad_settings` when MQTT_TLS_CA cannot be read
 */
export function chooseBroker(settings, url = settings.url ?? embeddedUrl(settings)) {
  const { username, password, tlsCa } = settings;
  return { url, username, password, ...(tlsCa ? { ca: readCa(tlsCa) } : {}) };
}

/** @param {{ host: string, port: number }} address */
function embeddedUrl({ host, port }) {
  // An address to listen on everywhere is none to connect to.
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `mqtt://${reachable.includes(':') && !reachable.startsWith('[') ? `[${reachable}]` : reachable}:${port}`;
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
