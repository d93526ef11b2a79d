import { MillraceError } from '../../../common/errors.js';
import { authorityExpires, OwnCertificate } from './certificate-reload.js';

/** @import { Server, Socket } from 'node:net' */
/** @import { TlsFiles } from '../../../common/settings/config.js' */
/** @import { Context } from '../../observability/index.js' */
/** @import { CertificateState } from '../../observability/metrics.js' */

/**
 * Loads the certificates of this process: the certificates of its servers, and the authorities that it trusts. The result
 * reports when the certificates expire.
 *
 * @param {Pick<Context, 'config' | 'logger'>} context
 * @param {{ everyMs: number }} options how often the files are checked, in ms
 * @throws {MillraceError} `bad_settings` if a file has no valid certificate or key
 */
export function createTls({ config: { http, mqtt, cql }, logger }, { everyMs }) {
  const own = (/** @type {'http' | 'mqtt'} */ purpose, /** @type {TlsFiles | null} */ files) =>
    files && new OwnCertificate({ purpose, files, everyMs, logger });

  const servers = { http: own('http', http.tls), mqtt: mqtt.url ? null : own('mqtt', mqtt.tls) };
  const authorities = [
    ...authority('cql_ca', 'CQL_TLS_CA', cql.tlsCa),
    ...authority('cql', 'CQL_TLS_CERT', cql.tls?.cert),
    ...authority('mqtt_ca', 'MQTT_TLS_CA', mqtt.url && mqtt.tlsCa),
  ];
  return {
    ...servers,

    /** @returns {CertificateState[]} */
    states: () => [
      ...Object.values(servers).flatMap((server) => (server ? [server.state] : [])),
      ...authorities,
    ],
  };
}

/**
 * @param {string} purpose
 * @param {string} setting
 * @param {string | undefined} path
 * @returns {CertificateState[]} state of the authorities in the file; empty without a path
 */
function authority(purpose, setting, path) {
  if (!path) return [];
  try {
    return [{ purpose, expires: authorityExpires(path), refused: false }];
  } catch (error) {
    throw new MillraceError('bad_settings', `${setting}: ${/** @type {Error} */ (error).message}`, {
      cause: error,
    });
  }
}

/**
 * Tracks all sockets of a server. A server that closes waits for all of them, but neither HTTP nor MQTT knows a socket during
 * its TLS handshake.
 *
 * @param {Server} server
 */
export function socketsOf(server) {
  /** @type {Set<Socket>} */
  const sockets = new Set();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return {
    destroy() {
      for (const socket of sockets) socket.destroy();
    },
  };
}
