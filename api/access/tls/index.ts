import type { Server, Socket } from 'node:net';
import { MillraceError, messageOf } from '../../../common/errors.ts';
import type { TlsFiles } from '../../../common/settings/config.ts';
import type { Context } from '../../observability/index.ts';
import type { CertificateState } from '../../observability/metrics.ts';
import { authorityExpires, OwnCertificate } from './certificate-reload.ts';

/** @throws `bad_settings` if a file has no valid certificate or key */
export function createTls(
  { config: { http, mqtt, cql }, logger, metrics }: Pick<Context, 'config' | 'logger' | 'metrics'>,
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
  metrics.certificates(() => [
    ...Object.values(servers).flatMap((server) => (server ? [server.state] : [])),
    ...authorities,
  ]);
  return servers;
}

function authority(purpose: string, setting: string, path: string | undefined): CertificateState[] {
  if (!path) return [];
  try {
    return [{ purpose, expires: authorityExpires(path), refused: false }];
  } catch (error) {
    throw new MillraceError('bad_settings', `${setting}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** A server that closes waits for all sockets, but neither HTTP nor MQTT knows a socket during its TLS handshake. */
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
