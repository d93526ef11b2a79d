import { mkdirSync, writeFileSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../../common/errors.ts';
import { freePort } from '../../../infra/engine/ports.ts';
import { LINE_TABLE } from '../load/payloads.ts';
import { answers, startProgram } from '../process/program.ts';
import { type Class, QUESTDB_TABLE, questdbConf } from './settings.ts';
import type { Programs } from './tools.ts';

export interface PeerDatabase {
  url: string;
  pid: number;
  /** cheap enough for four calls a second */
  stored: () => Promise<number>;
  write: (lines: string) => Promise<unknown>;
  clear: () => Promise<unknown>;
  /** bytes on disk, once `samples` samples are merged completely */
  bytes: (samples: number) => Promise<number>;
  /** reads the newest sample of each sensor; returns their number */
  latest: (sensors: string[]) => Promise<number>;
  /** mean, minimum and maximum by bins of whole seconds; returns the number of bins */
  series: (month: Month) => Promise<number>;
  stop: () => Promise<void>;
}

/** epoch ms */
type Month = { sensor: string; from: number; to: number; bins: number };

const binSeconds = ({ from, to, bins }: Month) => Math.round((to - from) / 1000 / bins);

/** Acknowledged samples are visible when QuestDB has applied its log to the table. */
const APPLIED_WITHIN_MS = 60_000;

export async function openQuestDb(dir: string, programs: Programs, durability: Class): Promise<PeerDatabase> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  mkdirSync(join(dir, 'conf'), { recursive: true });
  writeFileSync(join(dir, 'conf', 'server.conf'), questdbConf({ port, durability }));
  const pathOf = (sql: string) => `${url}/exec?${new URLSearchParams({ query: sql })}`;
  const { pid, stop } = await startProgram({
    title: 'QuestDB',
    command: programs.java,
    args: [
      ...['-Xms512m', '-Xmx2g', '-XX:+UseParallelGC'],
      ...['-p', programs.questdb, '-m', 'io.questdb/io.questdb.ServerMain', '-d', dir],
    ],
    log: join(dir, 'questdb.log'),
    isReady: () => answers(pathOf('SELECT 1')),
  });

  async function query(sql: string): Promise<unknown[][]> {
    const answer = await (await request(pathOf(sql))).json();
    return (answer as { dataset?: unknown[][] }).dataset ?? [];
  }

  /** @throws {MillraceError} `failed`: the table is suspended. It accepts samples but does not show them */
  async function count() {
    const [table] = await query('SELECT suspended, errorMessage FROM wal_tables()');
    if (table?.[0] === true) throw new MillraceError('failed', `QuestDB's table is suspended: ${table[1]}`);
    const [row] = await query(`SELECT count() FROM ${LINE_TABLE}`);
    return Number(row?.[0]);
  }

  await query(QUESTDB_TABLE);
  return {
    url,
    pid,
    stop,
    stored: count,
    write: (lines) => request(`${url}/write?precision=ms`, { method: 'POST', body: lines }),
    clear: () => query(`TRUNCATE TABLE ${LINE_TABLE}`),

    async bytes(samples) {
      const deadline = Date.now() + APPLIED_WITHIN_MS;
      while ((await count()) < samples && Date.now() < deadline) await sleep(200);
      return settledBytes([join(dir, 'db')]);
    },

    async latest(sensors) {
      const list = sensors.map((sensor) => `'${sensor}'`).join(',');
      const rows = await query(
        `SELECT sensor, ts, value FROM ${LINE_TABLE} WHERE sensor IN (${list}) LATEST ON ts PARTITION BY sensor`,
      );
      return rows.length;
    },

    async series(month) {
      const [from, to] = [month.from, month.to].map((time) => new Date(time).toISOString());
      const rows = await query(
        `SELECT ts, avg(value), min(value), max(value) FROM ${LINE_TABLE} WHERE sensor = '${month.sensor}' AND ts >= '${from}' AND ts < '${to}' SAMPLE BY ${binSeconds(month)}s FROM '${from}' TO '${to}'`,
      );
      return rows.length;
    },
  };
}

/** Reads of several MB take time on a busy machine, but a hung request must end. */
const ANSWER_MS = 60_000;

/** The answer has status 2xx. @throws {MillraceError} `failed`, with the text of the answer */
async function request(url: string, options?: RequestInit): Promise<Response> {
  const answer = await fetch(url, { ...options, signal: AbortSignal.timeout(ANSWER_MS) });
  if (answer.ok) return answer;
  const text = await answer.text();
  throw new MillraceError('failed', `${url} answers ${answer.status}: ${text.slice(0, 500)}`);
}

/** A merge is over when the bytes on disk have not changed for `STEADY_MS`. */
const STEADY_MS = 10_000;
const MERGED_WITHIN_MS = 180_000;

/** Waits until the bytes on disk no longer change. */
async function settledBytes(dirs: string[]): Promise<number> {
  const deadline = Date.now() + MERGED_WITHIN_MS;
  let bytes = Number.NaN;
  let since = Date.now();
  while (Date.now() - since < STEADY_MS && Date.now() < deadline) {
    const sizes = await Promise.all(dirs.map(bytesIn));
    const now = sizes.reduce((sum, size) => sum + size, 0);
    if (now !== bytes) since = Date.now();
    bytes = now;
    await sleep(500);
  }
  return bytes;
}

/** Unit of `blocks` in stat(2). */
const BLOCK_BYTES = 512;

/** Counts blocks, because the databases allocate larger files than their data. A merge may remove a file meanwhile. */
async function bytesIn(dir: string): Promise<number> {
  let bytes = 0;
  for (const name of await readdir(dir, { recursive: true }).catch(() => [])) {
    const found = await stat(join(dir, name)).catch(() => null);
    if (found?.isFile()) bytes += found.blocks * BLOCK_BYTES;
  }
  return bytes;
}
