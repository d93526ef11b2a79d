import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Admin } from '@platformatic/kafka';
import pino from 'pino';
import { KafkaSender } from '../../../../api/features/kafka/sender.ts';
import { readSettings } from '../../../../common/settings/index.ts';
import { connectionOptions, KAFKA_SETTINGS } from '../../../../schema/kafka/index.ts';
import { certificatesFolder } from '../../../support/certificates.ts';
import { startTestKafka, type TestKafka } from '../../../support/kafka/index.ts';
import { until } from '../../../support/until.ts';

const [USERNAME, PASSWORD] = ['millrace', 'a-secret-of-tests'];
const TOPIC = 'signed.in';

const certificates = certificatesFolder();
let ours: Awaited<ReturnType<typeof certificates.make>>;
let others: typeof ours;
beforeAll(async () => {
  ours = await certificates.make();
  others = await certificates.make('others');
});
afterAll(() => certificates.remove());

describe.each(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const)(
  'Kafka with TLS and SASL %s',
  (mechanism) => {
    let kafka: TestKafka;
    beforeAll(async () => {
      const pem = join(ours.key, '..', `kafka-${mechanism}.pem`);
      writeFileSync(pem, readFileSync(ours.key, 'utf8') + readFileSync(ours.cert, 'utf8'));
      kafka = await startTestKafka({
        sasl: { mechanism, username: USERNAME, password: PASSWORD },
        tls: { pem },
      });
    });
    afterAll(() => kafka?.dispose());

    function options(settings: Record<string, string> = {}) {
      const stream = readSettings(
        {
          STREAM_KAFKA: kafka.address,
          STREAM_TLS_CA: ours.ca,
          STREAM_SASL: mechanism,
          STREAM_USERNAME: USERNAME,
          STREAM_PASSWORD: PASSWORD,
          ...settings,
        },
        { envFile: '' },
      ).of(KAFKA_SETTINGS);
      return connectionOptions(stream, 'sign-in');
    }

    function sendWith(given: ReturnType<typeof options>) {
      const sent: unknown[] = [];
      let failures = 0;
      const sender = new KafkaSender({
        options: given,
        logger: pino({ level: 'silent' }),
        onSent: (records) => sent.push(...records),
        onFailure: () => failures++,
      });
      const record = {
        topic: TOPIC,
        key: Buffer.from('k'),
        value: Buffer.from('v'),
        headers: new Map(),
      };
      const ended = sender.send([record]);
      return { sender, sent, ended, failures: () => failures };
    }

    test('Kafka with TLS and SASL: right password: Kafka accepts a record', async () => {
      const admin = new Admin(options());
      await admin.createTopics({ topics: [TOPIC], partitions: 1, replicas: 1 });
      await admin.close();
      const { sender, sent, ended } = sendWith(options());
      expect(await ended).toBe(true);
      expect(sent).toHaveLength(1);
      await sender.stop();
    });

    test('Kafka with TLS and SASL: wrong password: nothing is sent', async () => {
      const { sender, sent, ended, failures } = sendWith(options({ STREAM_PASSWORD: 'wrong' }));
      await until(() => failures() > 1);
      await sender.stop();
      expect(await ended).toBe(false);
      expect(sent).toEqual([]);
    });

    test('Kafka with TLS and SASL: wrong certificate authority: nothing is sent', async () => {
      const { sender, sent, ended, failures } = sendWith(options({ STREAM_TLS_CA: others.ca }));
      await until(() => failures() > 1);
      await sender.stop();
      expect(await ended).toBe(false);
      expect(sent).toEqual([]);
    });
  },
);
