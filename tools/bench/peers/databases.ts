import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { MillraceError } from '../../../common/errors.ts';
import { freePort } from '../../../infra/engine/ports.ts';
import { LINE_TABLE } from '../load/payloads.ts';
import { answers, startProgram } from '../process/program.ts';
import { type Class, QUESTDB_TABLE, questdbConf } from './settings.ts';
import type { Programs } from './tools.ts';

type Month = { sensor: string; from: number; to: number; bins: number };

export type PeerDatabase = Awaited<ReturnType<typeof openQuestDb>>;

/** Acknowledged samples are visible when QuestDB has applied its log to the table. */
const APPLIED_WITHIN_MS = 60_000;

export async function openQuestDb(dir: string, programs: Programs, durability: Class) {
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
  async function stored() {
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
    /** Cheap enough for four calls a second. */
    stored,
    write: (lines: string) => request(`${url}/write?precision=ms`, { method: 'POST', body: lines }),
    clear: () => query(`TRUNCATE TABLE ${LINE_TABLE}`),

    async bytes(samples: number): Promise<number> {
      const deadline = Date.now() + APPLIED_WITHIN_MS;
      while ((await stored()) < samples && Date.now() < deadline) await sleep(200);
      return settledBytes(join(dir, 'db'));
    },

    async latest(sensors: string[]): Promise<number> {
      const list = sensors.map((sensor) => `'${sensor}'`).join(',');
      const rows = await query(
        `SELECT sensor, ts, value FROM ${LINE_TABLE} WHERE sensor IN (${list}) LATEST ON ts PARTITION BY sensor`,
      );
      return rows.length;
    },

    async series(month: Month): Promise<number> {
      const [from, to] = [month.from, month.to].map((time) => new Date(time).toISOString());
      const seconds = Math.round((month.to - month.from) / 1000 / month.bins);
      const rows = await query(
        `SELECT ts, avg(value), min(value), max(value) FROM ${LINE_TABLE} WHERE sensor = '${month.sensor}' AND ts >= '${from}' AND ts < '${to}' SAMPLE BY ${seconds}s FROM '${from}' TO '${to}'`,
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

/** Counts blocks, because QuestDB allocates larger files than its data. A merge may remove a file meanwhile, so `du` may fail. */
async function settledBytes(dir: string): Promise<number> {
  const deadline = Date.now() + MERGED_WITHIN_MS;
  let bytes = Number.NaN;
  for (let since = Date.now(); Date.now() - since < STEADY_MS && Date.now() < deadline; await sleep(500)) {
    const { stdout } = await promisify(execFile)('du', ['-s', '--block-size=1', dir]).catch((error) => error);
    const now = Number.parseInt(stdout, 10);
    if (now !== bytes) since = Date.now();
    bytes = now;
  }
  return bytes;
}
