import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../../common/errors.ts';
import { freePort } from '../../../infra/engine/ports.ts';
import { LINE_TABLE } from '../load/payloads.ts';
import { answers } from '../process/program.ts';
import { DatabaseProcess, type Month, type PeerDatabase, request, settledBytes } from './database.ts';
import { type Class, QUESTDB_TABLE, questdbConf } from './settings.ts';
import type { Programs } from './tools.ts';

/** Acknowledged samples are visible when QuestDB has applied its log to the table. */
const APPLIED_WITHIN_MS = 60_000;

/** Whole seconds are fine enough for SAMPLE BY. */
const binSeconds = ({ from, to, bins }: Month) => Math.round((to - from) / 1000 / bins);

export class QuestDb extends DatabaseProcess implements PeerDatabase {
  kind = 'questdb' as const;
  #dir;
  #programs;
  #port;

  constructor(dir: string, programs: Programs, port: number) {
    super();
    this.#dir = dir;
    this.#programs = programs;
    this.#port = port;
  }

  static async open({
    dir,
    programs,
    durability,
  }: {
    dir: string;
    programs: Programs;
    durability: Class;
  }): Promise<QuestDb> {
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

  async write(lines: string) {
    await request(`${this.url}/write?precision=ms`, { method: 'POST', body: lines });
  }

  async clear() {
    await this.#query(`TRUNCATE TABLE ${LINE_TABLE}`);
  }

  async bytes(samples: number) {
    const deadline = Date.now() + APPLIED_WITHIN_MS;
    while ((await this.#count()) < samples && Date.now() < deadline) await sleep(200);
    return settledBytes([join(this.#dir, 'db')]);
  }

  async latest(sensors: string[]) {
    const list = sensors.map((sensor) => `'${sensor}'`).join(',');
    const rows = await this.#query(
      `SELECT sensor, ts, value FROM ${LINE_TABLE} WHERE sensor IN (${list}) LATEST ON ts PARTITION BY sensor`,
    );
    return rows.length;
  }

  async series(month: Month) {
    const [from, to] = [month.from, month.to].map((time) => new Date(time).toISOString());
    const rows = await this.#query(
      `SELECT ts, avg(value), min(value), max(value) FROM ${LINE_TABLE} WHERE sensor = '${month.sensor}' AND ts >= '${from}' AND ts < '${to}' SAMPLE BY ${binSeconds(month)}s FROM '${from}' TO '${to}'`,
    );
    return rows.length;
  }

  async samples(from: number) {
    const since = new Date(from).toISOString();
    const answer = await request(
      this.#queryUrl('exp', `SELECT sensor, cast(ts AS LONG) FROM ${LINE_TABLE} WHERE ts >= '${since}'`),
    );
    const lines = (await answer.text()).trimEnd().split('\r\n').slice(1);
    return lines.map((line) => {
      const [sensor = '', micros] = line.split(',');
      return [sensor.replaceAll('"', ''), Number(micros) / 1000] as [string, number];
    });
  }

  /** @throws {MillraceError} `failed`: the table is suspended. It accepts samples but does not show them */
  async #count() {
    const [table] = await this.#query(`SELECT suspended, errorMessage FROM wal_tables()`);
    if (table?.[0] === true) throw new MillraceError('failed', `QuestDB's table is suspended: ${table[1]}`);
    const [row] = await this.#query(`SELECT count() FROM ${LINE_TABLE}`);
    return Number(row?.[0]);
  }

  async #query(sql: string): Promise<unknown[][]> {
    const { dataset = [] } = (await (await request(this.#queryUrl('exec', sql))).json()) as {
      dataset?: unknown[][];
    };
    return dataset;
  }

  #queryUrl(path: 'exec' | 'exp', sql: string) {
    return `${this.url}/${path}?${new URLSearchParams({ query: sql })}`;
  }
}
