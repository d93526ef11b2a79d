import { join } from 'node:path';
import { migrateDatabase } from '../../api/store/setup/index.ts';
import { readSettings } from '../../common/settings/index.ts';
import { ensureTools } from '../../infra/bootstrap/index.ts';
import { startEngine } from '../../infra/engine/index.ts';
import { steadyPort } from '../../infra/engine/ports.ts';
import { findLockHolder } from '../../infra/engine/process/lock.ts';
import { NODE_FOLDER } from '../../infra/engine/process/previous.ts';
import { startIngest } from '../bench/environment/ingest.ts';
import { LINE_TABLE, lineOf } from '../bench/load/payloads.ts';
import { openQuestDb } from '../bench/peers/databases.ts';
import { startTelegraf } from '../bench/peers/pipelines.ts';
import { DEFAULT_TUNING, telegrafToml } from '../bench/peers/settings.ts';
import { ensurePrograms } from '../bench/peers/tools.ts';
import { OUR_MOSQUITTO } from './brokers.ts';
import { Component, jsonOf, type Prepare, type Setup, type Subject, timeOf } from './subjects.ts';

/** @param external external broker; default: the embedded broker */
const millrace =
  (external?: Prepare): Prepare =>
  async (setup) => {
    await ensureTools(['java', 'maven'], setup);
    const mosquitto = await external?.(setup);
    const { disk, logs, tools, onStatus } = setup;
    const place = { dataDir: disk.path, port: await steadyPort(), engineDir: join(tools, '..', 'engine') };
    // The same Cassandra as `npm run dev`: a write is on the disk before the answer.
    const database = new Component(async () => {
      const engine = await startEngine({ ...place, fast: true, durable: true, onStatus });
      const holder = await findLockHolder(join(disk.path, NODE_FOLDER));
      return { pid: Number(holder?.java), stop: () => engine.stop() };
    });
    const settings: NodeJS.ProcessEnv = {
      CQL_CONTACT_POINTS: `127.0.0.1:${place.port}`,
      CQL_LOCAL_DC: 'datacenter1',
      CQL_KEYSPACE: 'acks',
      MQTT_CLIENT_ID: 'acks-ingest',
      MQTT_URL: mosquitto?.url(),
    };
    let ports = { httpPort: 0, mqttPort: 0 };
    const ingest = new Component(async () => {
      await migrateDatabase(readSettings(settings, { envFile: '' }));
      const child = await startIngest({ name: 'ingest', dir: logs, settings });
      ports = JSON.parse(String(child.ready));
      return child;
    });

    /** A page has 1,000 values at most. */
    async function received() {
      const sensor = `http://127.0.0.1:${ports.httpPort}/api/v1/devices/acks/sensors/s`;
      const pages = ['asc', 'desc'].map(async (order) => {
        const query = `from=${timeOf(0)}&limit=1000&order=${order}`;
        const { items } = await (await fetch(`${sensor}/measurements?${query}`)).json();
        return items.map(({ value }: { value: number }) => value);
      });
      return (await Promise.all(pages)).flat();
    }
    const pipeline = { database, write: jsonOf, received };
    if (mosquitto) return { ...mosquitto, ...pipeline, consumer: ingest };
    return { ...pipeline, url: () => `mqtt://127.0.0.1:${ports.mqttPort}`, version: 5, broker: ingest };
  };

async function telegraf(setup: Setup): Promise<Subject> {
  const mosquitto = await OUR_MOSQUITTO(setup);
  const programs = await ensurePrograms(setup.tools, setup.onStatus);
  let url = '';
  const database = new Component(async () => {
    const questdb = await openQuestDb(join(setup.disk.path, 'questdb'), programs, 'P');
    url = questdb.url;
    return questdb;
  });
  const consumer = new Component(() => {
    const reached = { broker: mosquitto.url(), database: url };
    const settings = telegrafToml({ ...reached, tuning: DEFAULT_TUNING, samples: 1 });
    return startTelegraf(programs.telegraf, { dir: setup.logs, settings });
  });
  async function received() {
    const answer = await fetch(`${url}/exec?query=SELECT value FROM ${LINE_TABLE}`);
    const { dataset = [] } = (await answer.json()) as { dataset?: [number][] };
    return dataset.flat();
  }
  // The padding becomes a comment.
  const write = (number: number) => `${lineOf('s', timeOf(number), number)}\n#`;
  return { ...mosquitto, database, consumer, write, received };
}

export const PIPELINES = {
  millrace: millrace(),
  'mosquitto-millrace': millrace(OUR_MOSQUITTO),
  'mosquitto-telegraf': telegraf,
} satisfies Record<string, Prepare>;
