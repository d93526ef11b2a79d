import { expect, test } from '@jest/globals';
import { KAFKA_SETTINGS } from '../../../../schema/kafka/index.ts';
import { problemsOf } from '../../../support/settings.ts';

test.each([
  [{ STREAM_USERNAME: 'u' }, ['STREAM_PASSWORD must be set when STREAM_USERNAME is set']],
  [
    { STREAM_EXPLODE: 'true', STREAM_FORMAT: 'packed' },
    ['STREAM_EXPLODE must be false when STREAM_FORMAT is packed: a block holds many samples'],
  ],
  [
    { STREAM_KAFKA: 'kafka.example', STREAM_USERNAME: 'u', STREAM_PASSWORD: 'p' },
    [
      'STREAM_TLS must be true when STREAM_PASSWORD is sent to Kafka beyond loopback, or TLS_ELSEWHERE=true if the network between is private',
    ],
  ],
  [
    { SCHEMA_REGISTRY_URL: 'https://registry.example' },
    ['STREAM_FORMAT must be avro when SCHEMA_REGISTRY_URL is set'],
  ],
  [
    {
      STREAM_FORMAT: 'avro',
      SCHEMA_REGISTRY_URL: 'https://registry.example',
      SCHEMA_REGISTRY_USERNAME: 'u',
    },
    ['SCHEMA_REGISTRY_PASSWORD must be set when SCHEMA_REGISTRY_USERNAME is set'],
  ],
  [
    {
      STREAM_FORMAT: 'avro',
      SCHEMA_REGISTRY_URL: 'http://127.0.0.1:8081',
      SCHEMA_REGISTRY_PASSWORD: 'p',
    },
    ['SCHEMA_REGISTRY_USERNAME must be set when SCHEMA_REGISTRY_PASSWORD is set'],
  ],
  [
    {
      STREAM_FORMAT: 'avro',
      SCHEMA_REGISTRY_URL: 'http://registry.example',
      SCHEMA_REGISTRY_USERNAME: 'u',
      SCHEMA_REGISTRY_PASSWORD: 'p',
    },
    [
      'SCHEMA_REGISTRY_URL must be https:// when SCHEMA_REGISTRY_PASSWORD is sent to a registry beyond loopback, or TLS_ELSEWHERE=true if the network between is private',
    ],
  ],
])('Settings: %p: each conflict is reported', (environment, problems) => {
  expect(problemsOf(environment, [KAFKA_SETTINGS])).toEqual(problems);
});
