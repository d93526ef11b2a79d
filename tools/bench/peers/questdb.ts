import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../../common/errors.js';
import { freePort } from '../../../infra/engine/ports.js';
import { LINE_TABLE } from '../load/payloads.js';
import { answers } from '../process/program.js';
import { DatabaseProcess, request, settledBytes } from './database.js';
import { QUESTDB_TABLE, questdbConf } from './settings.js';

/** @import { Month, PeerDatabase } from './database.js' */
/** @import { Class } from './settings.js' */
/** @import { Programs } from './tools.js' */

/** Time limit until acknowledged samples are visible, in ms. They are visible when QuestDB has applied its log to the table. */
const APPLIED_WITHIN_MS = 60_000;

/** Returns the width of a bin in whole seconds, which is fine enough for SAMPLE BY. @param {Month} month */
const binSeconds = ({ from, to, bins }) => Math.round((to - from) / 1000 / bins);

/** @implements {PeerDatabase} */
export class QuestDb extends DatabaseProcess {
  kind = /** @type {const} */ ('questdb');
  #dir;
  #programs;
  #port;

  /** @param {string} dir @param {Programs} programs @param {number} port */
  constructor(dir, programs, port) {
    super();
    this.#dir = dir;
    this.#programs = programs;
    this.#port = port;
  }

  /**
   * @param {{ dir: string, programs: Programs, durability: Class }} options
   * @returns {Promise<QuestDb>} a running QuestDB with its table
   */
  static async open({ dir, programs, durability }) {
    const port = await freePort();
    mkdirSync(join(dir, 'conf'), { recursive: true });
    writeFileSync(join(dir, 'conf', 'server.conf'), questdbConf({ port, durability }));
    const database = new QuestDb(dir, programs, port);
    await database.start();
    return database;
  }

  get url() {
    return `http://127.0.0.1:${this.#port}`;
  }

  async start() {
    await this.run({
      title: 'QuestDB',
      command: this.#programs.java,
      args: [
        ...['-Xms512m', '-Xmx2g', '-XX:+UseParallelGC'],
        ...['-p', this.#programs.questdb, '-m', 'io.questdb/io.questdb.ServerMain', '-d', this.#dir],
      ],
      log: join(this.#dir, 'questdb.log'),
      isReady: () => answers(this.#queryUrl('exec', 'SELECT 1')),
    });
    await this.#query(QUESTDB_TABLE);
  }

  counted() {
    return this.#count();
  }

  stored() {
    return this.#count();
  }

  /** @param {string} lines */
  async write(lines) {
    await request(`${this.url}/write?precision=ms`, { method: 'POST', body: lines });
  }

  async clear() {
    await this.#query(`TRUNCATE TABLE ${LINE_TABLE}`);
  }

  /** @param {number} samples */
  async bytes(samples) {
    const deadline = Date.now() + APPLIED_WITHIN_MS;
    while ((await this.#count()) < samples && Date.now() < deadline) await sleep(200);
    return settledBytes([join(this.#dir, 'db')]);
  }

  /** @param {string[]} sensors */
  async latest(sensors) {
    const list = sensors.map((sensor) => `'${sensor}'`).join(',');
    const rows = await this.#query(
      `SELECT sensor, ts, value FROM ${LINE_TABLE} WHERE sensor IN (${list}) LATEST ON ts PARTITION BY sensor`,
    );
    return rows.length;
  }

  /** @param {Month} month */
  async series(month) {
    const [from, to] = [month.from, month.to].map((time) => new Date(time).toISOString());
    const rows = await this.#query(
      `SELECT ts, avg(value), min(value), max(value) FROM ${LINE_TABLE} WHERE sensor = '${month.sensor}' AND ts >= '${from}' AND ts < '${to}' SAMPLE BY ${binSeconds(month)}s FROM '${from}' TO '${to}'`,
    );
    return rows.length;
  }

  /** @param {number} from */
  async samples(from) {
    const since = new Date(from).toISOString();
    const answer = await request(
      this.#queryUrl('exp', `SELECT sensor, cast(ts AS LONG) FROM ${LINE_TABLE} WHERE ts >= '${since}'`),
    );
    const lines = (await answer.text()).trimEnd().split('\r\n').slice(1);
    return lines.map((line) => {
      const [sensor = '', micros] = line.split(',');
      return /** @type {[string, number]} */ ([sensor.replaceAll('"', ''), Number(micros) / 1000]);
    });
  }

  /** @throws {MillraceError} `failed`: the table is suspended. It accepts samples but does not show them */
  async #count() {
    const [table] = await this.#query(`SELECT suspended, errorMessage FROM wal_tables()`);
    if (table?.[0] === true) throw new MillraceError('failed', `QuestDB's table is suspended: ${table[1]}`);
    const [row] = await this.#query(`SELECT count() FROM ${LINE_TABLE}`);
    return Number(row?.[0]);
  }

  /** @param {string} sql @returns {Promise<unknown[][]>} rows */
  async #query(sql) {
    const { dataset = [] } = /** @type {{ dataset?: unknown[][] }} */ (
      await (await request(this.#queryUrl('exec', sql))).json()
    );
    return dataset;
  }

  /** @param {'exec' | 'exp'} path @param {string} sql */
  #queryUrl(path, sql) {
    return `${this.url}/${path}?${new URLSearchParams({ query: sql })}`;
  }
}
