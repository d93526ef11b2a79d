import { bucketOf, DAY_MS, PACK_DELAY_MS } from '../../../schema/rules.ts';
import { build } from '../loader/build.ts';
import { SIGNALS, type SignalKind } from '../loader/data-set.ts';
import { tableBytes } from '../measure/stored.ts';
import { figure } from '../report/table.ts';
import type { Part } from './index.ts';

/** Stored days of one sensor at 1 Hz: as packed hours, as batches of a minute, and as rows. Rows take long to write. */
type Sizes = { packedDays: number; batchDays: number; rowDays: number };

const SIZES: Sizes = { packedDays: 30, batchDays: 10, rowDays: 2 };

const INTO = { packed: 'history', batches: 'batches', rows: 'rows' } as const;

const TABLES = ['history', 'history_stat', 'message', 'measurement_row'];

/**
 * Bytes after a flush and a compaction, as Cassandra itself counts them. The layouts are packed hours, batches as devices send them, and
 * one row per sample as in the usual model.
 */
export const createReadingDiskPart = (sizes: Sizes): Part<Result[]> => ({
  name: 'disk',
  title: 'Bytes a sample on disk, 1 Hz with 20 ms of jitter',

  async run({ environment, status }) {
    const results = [];
    for (const signal of SIGNALS) {
      const config = await environment.prepare(`disk-${signal}`);
      const samples = { packed: 0, batches: 0, rows: 0 };
      for (const [way, days] of [
        ['packed', sizes.packedDays],
        ['batches', sizes.batchDays],
        ['rows', sizes.rowDays],
      ] as const) {
        const to = bucketOf(Date.now()) - PACK_DELAY_MS;
        const loaded = await build({
          config,
          fleet: { seed: 1, devices: 1, sensors: 1 },
          set: { seed: 1, signal, intervalMs: 1000, jitterMs: 20, from: to - days * DAY_MS, to },
          into: INTO[way],
          // The batches are committed within their hour, so that none of their samples also go into history.
          arrival: (hour) => hour,
          onProgress: (done) => status(`${signal}, ${way}: ${done} samples`),
        });
        samples[way] = loaded.samples;
      }
      status(`${signal}: flushing and compacting`);
      const sizesOf = await tableBytes(environment, config.cql.keyspace, TABLES);
      results.push({
        signal,
        samples,
        history: Number(sizesOf['history']) / samples.packed,
        statistics: Number(sizesOf['history_stat']) / samples.packed,
        batches: Number(sizesOf['message']) / samples.batches,
        rows: Number(sizesOf['measurement_row']) / samples.rows,
      });
    }
    return results;
  },

  tables: (results) => [
    {
      head: [
        'bytes a sample',
        'history',
        'its statistics',
        'one row per sample',
        'history / rows',
        'batches of a minute',
      ],
      rows: results.map(({ signal, history, statistics, rows, batches }) => [
        signal === 'full' ? 'full doubles' : 'two decimals',
        ...[history, statistics, rows, history / rows, batches].map((number) => figure(number)),
      ]),
    },
  ],
});

export const disk = createReadingDiskPart(SIZES);

/** bytes a sample */
type Result = {
  signal: SignalKind;
  samples: Record<keyof typeof INTO, number>;
  history: number;
  statistics: number;
  batches: number;
  rows: number;
};
