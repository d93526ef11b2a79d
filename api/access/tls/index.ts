import type { Server, Socket } from 'node:net';
import { MillraceError } from '../../../common/errors.ts';
import type { TlsFiles } from '../../../common/settings/config.ts';
import type { Context } from '../../observability/index.ts';
import type { CertificateState } from '../../observability/metrics.ts';
import { authorityExpires, OwnCertificate } from './certificate-reload.ts';

/**
 * Loads the certificates of this process: the certificates of its servers, and the authorities that it trusts. The result
 * reports when the certificates expire.
 * @param options how often the files are checked, in ms
 * @throws {MillraceError} `bad_settings` if a file has no valid certificate or key
 */
export function createTls(
  { config: { http, mqtt, cql }, logger }: Pick<Context, 'config' | 'logger'>,
  { everyMs }: { everyMs: number },
) {
  const own = (purpose: 'http' | 'mqtt', files: TlsFiles | null) =>
    files && new OwnCertificate({ purpose, files, everyMs, logger });

  const servers = { http: own('http', http.tls), mqtt: mqtt.url ? null : own('mqtt', mqtt.tls) };
  const authorities = [
    ...authority('cql_ca', 'CQL_TLS_CA', cql.tlsCa),
    ...authority('cql', 'CQL_TLS_CERT', cql.tls?.cert),
    ...authority('mqtt_ca', 'MQTT_TLS_CA', mqtt.url && mqtt.tlsCa),
  ];
  return {
    ...servers,

    states: (): CertificateState[] => [
      ...Object.values(servers).flatMap((server) => (server ? [server.state] : [])),
      ...authorities,
    ],
  };
}

/** @returns state of the authorities in the file; empty without a path */
function authority(purpose: string, setting: string, path: string | undefined): CertificateState[] {
  if (!path) return [];
  try {
    return [{ purpose, expires: authorityExpires(path), refused: false }];
  } catch (error) {
    throw new MillraceError('bad_settings', `${setting}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/**
 * Tracks all sockets of a server. A server that closes waits for all of them, but neither HTTP nor MQTT knows a socket during
 * its TLS handshake.
 */
export function socketsOf(server: Server) {
  const sockets: Set<Socket> = new Set();
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
