import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../../infra/engine/ports.ts';
import { LINE_TABLE } from '../load/payloads.ts';
import { answers } from '../process/program.ts';
import { DatabaseProcess, type Month, type PeerDatabase, request, settledBytes } from './database.ts';
import { DATABASE, influxdbConf } from './settings.ts';
import type { Programs } from './tools.ts';

/** InfluxDB then compacts a shard in full. A short time gives the final size soon. The default is 4 h. */
const SOON = '3s';

export class InfluxDb extends DatabaseProcess implements PeerDatabase {
  kind = 'influxdb' as const;
  #dir;
  #programs;
  #ports;
  /** Samples written before the present process started. */
  #before = 0;

  constructor(dir: string, programs: Programs, ports: { http: number; rpc: number }) {
    super();
    this.#dir = dir;
    this.#programs = programs;
    this.#ports = ports;
  }

  static async open({ dir, programs }: { dir: string; programs: Programs }): Promise<InfluxDb> {
    mkdirSync(dir, { recursive: true });
    const ports = { http: await freePort(), rpc: await freePort() };
    const database = new InfluxDb(dir, programs, ports);
    await database.start();
    await database.#query(`CREATE DATABASE ${DATABASE}`);
    return database;
  }

  get url() {
    return `http://127.0.0.1:${this.#ports.http}`;
  }

  /** @param coldAfter see `influxdbConf` */
  async start(coldAfter?: string) {
    const config = join(this.#dir, 'influxdb.conf');
    writeFileSync(config, influxdbConf({ dir: this.#dir, ports: this.#ports, coldAfter }));
    await this.run({
      title: 'InfluxDB',
      command: this.#programs.influxdb,
      args: ['-config', config],
      log: join(this.#dir, 'influxdb.log'),
      isReady: () => answers(`${this.url}/ping`),
    });
  }

  /** InfluxDB's counter of written points, because a count(*) would read all points. */
  async counted() {
    const { write } = (await (await request(`${this.url}/debug/vars`)).json()) as {
      write?: { values: { pointReq: number } };
    };
    return this.#before + (write?.values.pointReq ?? 0);
  }

  async stored() {
    const [row] = await this.#query(`SELECT count(value) FROM ${LINE_TABLE}`);
    return Number(row?.[1] ?? 0);
  }

  async write(lines: string) {
    await request(`${this.url}/write?db=${DATABASE}&precision=ms`, { method: 'POST', body: lines });
  }

  async clear() {
    await this.#query(`DROP MEASUREMENT ${LINE_TABLE}`);
  }

  async bytes() {
    await this.#again(SOON);
    const bytes = await settledBytes(['data', 'wal'].map((name) => join(this.#dir, name)));
    await this.#again();
    return bytes;
  }

  async latest(sensors: string[]) {
    const any = sensors.map((sensor) => `sensor = '${sensor}'`).join(' OR ');
    const rows = await this.#query(`SELECT last(value) FROM ${LINE_TABLE} WHERE ${any} GROUP BY sensor`);
    return rows.length;
  }

  async series({ sensor, from, to, bins }: Month) {
    const seconds = Math.round((to - from) / 1000 / bins);
    const offset = Math.floor(from / 1000) % seconds;
    const rows = await this.#query(
      `SELECT mean(value), min(value), max(value) FROM ${LINE_TABLE} WHERE sensor = '${sensor}' AND time >= ${from}ms AND time < ${to}ms GROUP BY time(${seconds}s, ${offset}s)`,
    );
    return rows.length;
  }

  async samples(from: number) {
    const series = await this.#series(
      `SELECT value FROM ${LINE_TABLE} WHERE time >= ${from}ms GROUP BY sensor`,
    );
    return series.flatMap(({ tags, values }) =>
      values.map((row) => [String(tags?.['sensor']), Number(row[0])] as [string, number]),
    );
  }

  async #again(coldAfter?: string) {
    this.#before = await this.counted();
    await this.stop();
    await this.start(coldAfter);
  }

  async #query(query: string): Promise<unknown[][]> {
    return (await this.#series(query)).flatMap(({ values }) => values);
  }

  async #series(q: string): Promise<Array<{ tags?: Record<string, string>; values: unknown[][] }>> {
    const answer = await request(`${this.url}/query`, {
      method: 'POST',
      body: new URLSearchParams({ db: DATABASE, epoch: 'ms', q }),
    });
    const { results = [] } = (await answer.json()) as {
      results?: Array<{
        series?: Array<{ tags?: Record<string, string>; values: unknown[][] }>;
        error?: string;
      }>;
    };
    const error = results.find((result) => result.error)?.error;
    if (error) throw new Error(`InfluxDB: ${error}`);
    return results.flatMap(({ series = [] }) => series);
  }
}
