import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../../infra/engine/ports.js';
import { LINE_TABLE } from '../load/payloads.js';
import { answers } from '../process/program.js';
import { DatabaseProcess, request, settledBytes } from './database.js';
import { DATABASE, influxdbConf } from './settings.js';

/** @import { Month, PeerDatabase } from './database.js' */
/** @import { Programs } from './tools.js' */

/** Time without writes after which InfluxDB compacts a shard in full. A short time gives the final size soon. The default is 4 h. */
const SOON = '3s';

/** @implements {PeerDatabase} */
export class InfluxDb extends DatabaseProcess {
  kind = /** @type {const} */ ('influxdb');
  #dir;
  #programs;
  #ports;
  /** Number of samples that were written before the present process started. */
  #before = 0;

  /** @param {string} dir @param {Programs} programs @param {{ http: number, rpc: number }} ports */
  constructor(dir, programs, ports) {
    super();
    this.#dir = dir;
    this.#programs = programs;
    this.#ports = ports;
  }

  /** @param {{ dir: string, programs: Programs }} options @returns {Promise<InfluxDb>} a running InfluxDB with its database */
  static async open({ dir, programs }) {
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

  /** @param {string} [coldAfter] see `influxdbConf` */
  async start(coldAfter) {
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

  /** Reads InfluxDB's counter of written points, because a count(*) would read all points. */
  async counted() {
    const { write } = /** @type {{ write?: { values: { pointReq: number } } }} */ (
      await (await request(`${this.url}/debug/vars`)).json()
    );
    return this.#before + (write?.values.pointReq ?? 0);
  }

  async stored() {
    const [row] = await this.#query(`SELECT count(value) FROM ${LINE_TABLE}`);
    return Number(row?.[1] ?? 0);
  }

  /** @param {string} lines */
  async write(lines) {
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

  /** @param {string[]} sensors */
  async latest(sensors) {
    const any = sensors.map((sensor) => `sensor = '${sensor}'`).join(' OR ');
    const rows = await this.#query(`SELECT last(value) FROM ${LINE_TABLE} WHERE ${any} GROUP BY sensor`);
    return rows.length;
  }

  /** @param {Month} month */
  async series({ sensor, from, to, bins }) {
    const seconds = Math.round((to - from) / 1000 / bins);
    const offset = Math.floor(from / 1000) % seconds;
    const rows = await this.#query(
      `SELECT mean(value), min(value), max(value) FROM ${LINE_TABLE} WHERE sensor = '${sensor}' AND time >= ${from}ms AND time < ${to}ms GROUP BY time(${seconds}s, ${offset}s)`,
    );
    return rows.length;
  }

  /** @param {number} from */
  async samples(from) {
    const series = await this.#series(
      `SELECT value FROM ${LINE_TABLE} WHERE time >= ${from}ms GROUP BY sensor`,
    );
    return series.flatMap(({ tags, values }) =>
      values.map((row) => /** @type {[string, number]} */ ([String(tags?.['sensor']), Number(row[0])])),
    );
  }

  /** @param {string} [coldAfter] */
  async #again(coldAfter) {
    this.#before = await this.counted();
    await this.stop();
    await this.start(coldAfter);
  }

  /** @param {string} query @returns {Promise<unknown[][]>} rows of all series */
  async #query(query) {
    return (await this.#series(query)).flatMap(({ values }) => values);
  }

  /** @param {string} q @returns {Promise<Array<{ tags?: Record<string, string>, values: unknown[][] }>>} */
  async #series(q) {
    const answer = await request(`${this.url}/query`, {
      method: 'POST',
      body: new URLSearchParams({ db: DATABASE, epoch: 'ms', q }),
    });
    const { results = [] } =
      /** @type {{ results?: Array<{ series?: Array<{ tags?: Record<string, string>, values: unknown[][] }>, error?: string }> }} */ (
        await answer.json()
      );
    const error = results.find((result) => result.error)?.error;
    if (error) throw new Error(`InfluxDB: ${error}`);
    return results.flatMap(({ series = [] }) => series);
  }
}
