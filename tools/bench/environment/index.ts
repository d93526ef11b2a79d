import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrateDatabase } from '../../../api/store/setup/index.ts';
import type { Config } from '../../../common/settings/config.ts';
import { readSettings } from '../../../common/settings/index.ts';
import { type Child, startChild } from '../process/child.ts';
import { createRowTable } from '../variants/rows.ts';
import { startBroker } from './broker.ts';
import type { Database } from './database.ts';
import { startHttpProcess, startIngest } from './ingest.ts';
import { Pipeline } from './pipeline.ts';

export interface Context {
  environment: Environment;
  flags: BenchFlags;
  status: (text: string) => void;
}

/** Of a run. A quick run measures the same in less time. */
export interface BenchFlags {
  shapes: string[];
  rounds: number;
  runMs: number;
  /** samples/s of the soak */
  rate?: number;
  /** ms under load before each run */
  warmMs: number;
  /** ms of load before the first measurement */
  bootMs: number;
}

const PUBLISHER = fileURLToPath(new URL('../publisher/main.ts', import.meta.url));

interface EnvironmentOptions {
  dir: string;
  database: Database;
  prefix?: string;
  onStatus: (text: string) => void;
}

export async function openEnvironment(options: EnvironmentOptions): Promise<Environment> {
  const log = join(options.dir, 'logs', 'publisher.log');
  return new Environment(options, await startChild(PUBLISHER, { title: 'publisher', log }));
}

type Closable = { close: () => Promise<void> };

export class Environment {
  readonly dir: string;
  readonly database: Database;
  /** All measurements share the publisher. */
  readonly publisher: Child;
  readonly #options: EnvironmentOptions;
  readonly #open: Map<string, Closable> = new Map();

  constructor(options: EnvironmentOptions, publisher: Child) {
    ({ dir: this.dir, database: this.database } = options);
    this.publisher = publisher;
    this.#options = options;
  }

  /** A variant of this name that already runs is used again. */
  async variant<C extends Closable>(name: string, start: (home: string) => Promise<C>): Promise<C> {
    const known = this.#open.get(name) as C | undefined;
    if (known) return known;
    this.#options.onStatus(`starting ${name}`);
    const variant = await start(join(this.dir, name.replaceAll(/\W/g, '-')));
    this.#open.set(name, variant);
    return variant;
  }

  /** Migrates the keyspace of a variant that is not started yet, so that data can be loaded. */
  async prepare(name: string): Promise<Config> {
    const config = readSettings(this.#settings(name), { envFile: '' });
    await migrateDatabase(config);
    await createRowTable(config);
    return config;
  }

  /**
   * Mosquitto and ingest.
   * @param options `rows`: ingest stores one row per sample; `observed`: it reaches its broker through the publisher's proxy, which
   * observes its acknowledgements; `keyspace`: default is one of its own
   */
  pipeline(name: string, { rows = false, observed = false, keyspace = name } = {}) {
    return this.variant(name, async (dir) => {
      const broker = await startBroker(join(dir, 'broker'));
      const reachedAt = observed ? await this.publisher.call<string>('observe', broker.url) : broker.url;
      const settings = this.#settings(keyspace, reachedAt);
      const { cql } = await this.prepare(keyspace);
      const ingest = await startIngest({ name, dir, settings, rows });
      const pipeline = new Pipeline({ name, broker, ingest, publisher: this.publisher });
      const startHttp = () => startHttpProcess({ name: `${name}-http`, dir, settings });
      return Object.assign(pipeline, { cql, startHttp });
    });
  }

  observedPipeline() {
    return this.pipeline('observed', { observed: true });
  }

  async close(name: string) {
    await this.#open.get(name)?.close();
    this.#open.delete(name);
  }

  async stop() {
    for (const variant of this.#open.values()) await variant.close();
    await this.publisher.stop();
  }

  #settings(name: string, broker?: string): NodeJS.ProcessEnv {
    return {
      CQL_CONTACT_POINTS: this.database.contactPoint,
      CQL_LOCAL_DC: 'datacenter1',
      CQL_KEYSPACE: `${this.#options.prefix ?? 'bench'}_${name.replaceAll(/\W/g, '_')}`,
      MQTT_CLIENT_ID: `bench-${name}`,
      MQTT_URL: broker,
    };
  }
}
