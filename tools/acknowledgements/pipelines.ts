import { writeFile } from 'node:fs/promises';
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
import { DEFAULT_TUNING, telegrafToml } from '../bench/peers/settings.ts';
import { ensurePrograms } from '../bench/peers/tools.ts';
import { startProgram } from '../bench/process/program.ts';
import { OUR_MOSQUITTO } from './brokers.ts';
import { jsonOf, Part, type Setup, type Subject, type SubjectKind, TOPIC, timeOf } from './subjects.ts';

const DEVICE = 'acks';

/** The same Cassandra as `npm run dev`: a write is on the disk before the answer. */
async function cassandra({ data, tools, onStatus }: Setup) {
  const place = { dataDir: data, port: await steadyPort(), engineDir: join(tools, '..', 'engine') };
  const part = new Part(async () => {
    const engine = await startEngine({ ...place, fast: true, durable: true, onStatus });
    const holder = await findLockHolder(join(data, NODE_FOLDER));
    return { pid: Number(holder?.java), stop: () => engine.stop() };
  });
  return { part, contactPoint: `127.0.0.1:${place.port}` };
}

/** @param url of an external broker; default: the embedded broker */
async function millrace(setup: Setup, url?: string) {
  await ensureTools(['java', 'maven'], setup);
  const database = await cassandra(setup);
  const settings: NodeJS.ProcessEnv = {
    CQL_CONTACT_POINTS: database.contactPoint,
    CQL_LOCAL_DC: 'datacenter1',
    CQL_KEYSPACE: 'acks',
    MQTT_CLIENT_ID: 'acks-ingest',
    MQTT_URL: url,
  };
  let isMigrated = false;
  let ready = { httpPort: 0, mqttPort: 0 };
  const ingest = new Part(async () => {
    if (!isMigrated) await migrateDatabase(readSettings(settings, { envFile: '' }));
    isMigrated = true;
    const process = await startIngest({ name: 'ingest', dir: setup.logs, settings });
    ready = JSON.parse(String(process.ready));
    return process;
  });

  async function stored() {
    const api = `http://127.0.0.1:${ready.httpPort}/api/v1/devices/${DEVICE}/sensors/s/measurements`;
    const values: number[] = [];
    for (let cursor = ''; ; ) {
      const answer = await fetch(`${api}?from=${timeOf(0)}&order=asc&limit=1000${cursor}`);
      if (!answer.ok) return values;
      const { items, next } = await answer.json();
      values.push(...items.map(({ value }: { value: number }) => value));
      if (!next) return values;
      cursor = `&cursor=${encodeURIComponent(next)}`;
    }
  }
  return { database: database.part, ingest, stored, mqttPort: () => ready.mqttPort };
}

async function embedded(setup: Setup): Promise<Subject> {
  const { database, ingest, stored, mqttPort } = await millrace(setup);
  const url = () => `mqtt://127.0.0.1:${mqttPort()}`;
  return { url, version: 5, parts: { database, broker: ingest }, topic: TOPIC, write: jsonOf, stored };
}

async function behindMosquitto(setup: Setup): Promise<Subject> {
  const mosquitto = await OUR_MOSQUITTO.prepare(setup);
  const { database, ingest, stored } = await millrace(setup, mosquitto.url());
  return { ...mosquitto, parts: { database, ...mosquitto.parts, consumer: ingest }, stored };
}

async function telegraf(setup: Setup): Promise<Subject> {
  const mosquitto = await OUR_MOSQUITTO.prepare(setup);
  const programs = await ensurePrograms(setup.tools, setup.onStatus);
  let url = '';
  const database = new Part(async () => {
    const questdb = await openQuestDb(join(setup.data, 'questdb'), programs, 'P');
    url = questdb.url;
    return questdb;
  });
  const configuration = join(setup.logs, 'telegraf.conf');
  const consumer = new Part(async () => {
    const reached = { broker: mosquitto.url(), database: url };
    await writeFile(configuration, telegrafToml({ ...reached, tuning: DEFAULT_TUNING, samples: 1 }));
    return startProgram({
      title: 'Telegraf',
      command: programs.telegraf,
      args: ['--config', configuration],
      log: join(setup.logs, 'telegraf.log'),
      isReady: (log) => log.includes('Connected ['),
    });
  });
  async function stored() {
    const query = new URLSearchParams({ query: `SELECT value FROM ${LINE_TABLE}` });
    const answer = await fetch(`${url}/exec?${query}`);
    const { dataset = [] } = (await answer.json()) as { dataset?: [number][] };
    return dataset.map(([value]) => value);
  }
  // The padding becomes a comment.
  const write = (number: number) => `${lineOf('s', timeOf(number), number)}\n#`;
  return { ...mosquitto, write, stored, parts: { database, ...mosquitto.parts, consumer } };
}

export const PIPELINES: Record<string, SubjectKind> = {
  millrace: { title: 'Millrace, embedded broker, Cassandra', prepare: embedded },
  'mosquitto-millrace': { title: 'the same Mosquitto, Millrace, Cassandra', prepare: behindMosquitto },
  'mosquitto-telegraf': { title: 'the same Mosquitto, Telegraf, QuestDB', prepare: telegraf },
};
