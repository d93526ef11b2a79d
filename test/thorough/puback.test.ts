import { describe, expect, test } from '@jest/globals';
import type { IClientOptions, MqttClient } from 'mqtt';
import mqtt from 'mqtt';
import { steadyPort } from '../../infra/engine/ports.ts';
import { identifyDevice } from '../../schema/ids.ts';
import { useCleanUps } from '../support/clean-ups.ts';
import { startCqlProxy } from '../support/database/cql-proxy.ts';
import { sharedContactPoint } from '../support/database/engine.ts';
import { useKeyspace } from '../support/database/keyspace.ts';
import { startApi } from '../support/processes/api-process.ts';
import { startTestSystem } from '../support/system/index.ts';
import { until } from '../support/until.ts';

const afterwards = useCleanUps();

async function connectDevice(url: string, options: IClientOptions = {}) {
  const client = await mqtt.connectAsync(url, { reconnectPeriod: 100, ...options });
  client.on('error', () => {}); // The tests stop and start the API. The client reconnects.
  afterwards(() => client.endAsync(true));
  return client;
}

/** Publishes measurements of one sensor, with value i at base + i, and collects the acknowledged values. */
function publishAll(
  client: MqttClient,
  {
    device,
    base,
    count,
    atOnce = count,
    onAcknowledged = () => {},
  }: {
    device: string;
    /** epoch ms */
    base: number;
    count: number;
    /** unacknowledged messages; default: all */
    atOnce?: number;
    /** called in the turn in which the message is acknowledged */
    onAcknowledged?: (count: number) => void;
  },
) {
  const acknowledged: Set<number> = new Set();
  let next = 0;
  async function publishNext() {
    while (next < count) {
      const i = next++;
      const payload = JSON.stringify({ sensor_id: 's', ts: base + i, value: i });
      await client.publishAsync(`iot/v1/${device}/measurements`, payload, { qos: 1 });
      acknowledged.add(i);
      onAcknowledged(acknowledged.size);
    }
  }
  return { acknowledged, finished: Promise.all(Array.from({ length: atOnce }, publishNext)) };
}

async function storedValues(
  system: { all: (path: string) => Promise<Record<string, unknown>[]> },
  device: string,
  base: number,
) {
  const items = await system.all(
    `/devices/${device}/sensors/s/measurements?from=${base}&order=asc&limit=1000`,
  );
  return items.map(({ value }) => value);
}

const zeroTo = (count: number) => Array.from({ length: count }, (_, i) => i);

test('PUBACK: commits finish out of order: PUBACKs are sent in the order of arrival', async () => {
  const cqlProxy = await startCqlProxy(sharedContactPoint());
  afterwards(() => cqlProxy.stop());
  const system = await startTestSystem({
    settings: { INGEST_MAX_IN_FLIGHT: '4' },
    proxy: cqlProxy.contactPoint,
    onFatal: () => {},
  });
  afterwards(() => system.stop());
  const client = await connectDevice(system.mqttUrl);
  const now = Date.now();
  await publishAll(client, { device: 'long', base: now, count: 1 }).finished;
  // A row of the first message stays under way until the test releases it.
  const { id } = identifyDevice('long') as { id: string };
  let held = '';
  cqlProxy.hold(({ statements }) => {
    const rows = statements.filter(
      ({ table, partition }) => table.endsWith('.message') && partition.includes(id.replaceAll('-', '')),
    );
    held ||= rows[0]?.partition ?? '';
    return rows.some(({ partition }) => partition === held);
  });
  const sent: number[] = [];
  const acknowledged: number[] = [];
  client.on('packetsend', (packet) => packet.cmd === 'publish' && sent.push(Number(packet.messageId)));
  client.on(
    'packetreceive',
    (packet) => packet.cmd === 'puback' && acknowledged.push(Number(packet.messageId)),
  );
  // 60 hours are 60 requests, with 4 in flight at a time.
  const long = zeroTo(60).map((hour) => ({ sensor_id: 's', ts: now - (hour + 1) * 3_600_000, value: hour }));
  const published = Promise.all(
    zeroTo(40).map((i) =>
      client.publishAsync(
        `iot/v1/${i % 10 === 0 ? 'long' : `short-${i}`}/measurements`,
        JSON.stringify(i % 10 === 0 ? long : { sensor_id: 's', ts: now, value: i }),
        { qos: 1 },
      ),
    ),
  );
  // Later messages are committed before the first one, and none of them is acknowledged.
  const short = zeroTo(40).filter((i) => i % 10 !== 0);
  await until(async () => {
    const { items } = await system.get('/latest?limit=1000');
    const stored = items.flatMap(({ device, ts }: { device: string; ts: string | null }) =>
      ts === null ? [] : [device],
    );
    return short.every((i) => stored.includes(`short-${i}`));
  });
  expect(acknowledged).toEqual([]);
  expect(cqlProxy.held()).toBeGreaterThan(0);
  cqlProxy.release();
  await published;
  expect(acknowledged).toHaveLength(40);
  expect(acknowledged).toEqual(sent);
});

describe('Process ends under load', () => {
  const COUNT = 3000;
  /** Unacknowledged messages. Each acknowledgement is followed by another message, so some remain after the end. */
  const AT_ONCE = 500;
  /** The process ends at this acknowledgement. */
  const LAST = 200;

  async function endUnderLoad(signal: NodeJS.Signals, code: number | null) {
    const database = { CQL_CONTACT_POINTS: sharedContactPoint(), LATEST_GROUPS: '4' };
    const { config, use } = await useKeyspace(database);
    afterwards(() => use.release());
    const settings = {
      ...database,
      CQL_KEYSPACE: config.cql.keyspace,
      MQTT_PORT: String(await steadyPort()),
      HTTP_PORT: String(await steadyPort()),
    };
    const first = await startApi(settings);
    afterwards(() => first.kill());
    const client = await connectDevice(first.mqttUrl, { clean: false, clientId: 'steady' });
    let sent = 0;
    client.on('packetsend', (packet) => {
      if (packet.cmd === 'publish') sent++;
    });
    const base = Date.now() - 600_000;
    const { acknowledged, finished } = publishAll(client, {
      device: 'load',
      base,
      count: COUNT,
      atOnce: AT_ONCE,
      onAcknowledged: (count) => count === LAST && first.signal(signal),
    });
    await until(() => !first.running(), { what: 'the end' });
    expect((await first.ended).code).toBe(code);
    const before = [...acknowledged];

    const second = await startApi(settings);
    afterwards(() => second.kill());
    await finished;
    const system = {
      async all(path: string) {
        const items = [];
        for (let cursor = ''; ; ) {
          const response = await fetch(`${second.httpUrl}/api/v1${path}${cursor}`);
          const page = await response.json();
          items.push(...page.items);
          if (!page.next) return items;
          cursor = `&cursor=${encodeURIComponent(page.next)}`;
        }
      },
    };
    const values = await storedValues(system, 'load', base);
    expect(before.filter((value) => !values.includes(value))).toEqual([]);
    expect(values).toEqual(zeroTo(COUNT));
    expect(before.length).toBeLessThan(COUNT);
    expect(sent).toBeGreaterThan(COUNT);
  }

  test('Process under load: kill -9: acknowledged samples are stored, and after a restart every sample, once', () =>
    endUnderLoad('SIGKILL', null));

  test('Process under load: SIGTERM: exit code 0, and after a restart every sample is stored once', () =>
    endUnderLoad('SIGTERM', 0));
});
