import { readFileSync } from 'node:fs';
import type { BaseOptions } from '@platformatic/kafka';
import type { KafkaSettings } from './settings.ts';

const PORT = 9092;

const REQUEST_MS = 10_000;

/** A Kafka client must not retry, because the caller retries with a new client. */
export function connectionOptions(
  { kafka, tls, tlsCa, certificate, sasl, username, password }: KafkaSettings,
  clientId: string,
): BaseOptions {
  return {
    clientId,
    bootstrapBrokers: (kafka ?? []).map((address) =>
      /:\d+$/.test(address) ? address : `${address}:${PORT}`,
    ),
    connectTimeout: 5000,
    requestTimeout: REQUEST_MS,
    timeout: REQUEST_MS,
    retries: 0,
    ...(tls && {
      tls: {
        ...(tlsCa && { ca: readFileSync(tlsCa) }),
        ...(certificate && { cert: readFileSync(certificate.cert), key: readFileSync(certificate.key) }),
      },
    }),
    ...(username && { sasl: { mechanism: sasl, username, password } }),
  };
}
