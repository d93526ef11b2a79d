import { bucketOf, DAY_MS, PACK_DELAY_MS } from '../../../schema/rules.ts';
import { build } from '../loader/build.ts';
import { SIGNALS, type SignalKind } from '../loader/data-set.ts';
import { tableBytes } from '../measure/stored.ts';
import { figure } from '../report/table.ts';
import type { Part } from './index.ts';

/** Stored days of one sensor at 1 Hz: as packed hours, as batches of a minute, and as rows. Rows take long to write. */
const DAYS = { history: 30, batches: 10, rows: 2 };

type Layout = keyof typeof DAYS;

const TABLES = {
  history: 'history',
  statistics: 'history_stat',
  batches: 'message',
  rows: 'measurement_row',
};

type Result = { signal: SignalKind; samples: Record<Layout, number> } & Record<keyof typeof TABLES, number>;

const LABELS = { decimals: 'two decimals', full: 'full doubles' };

/** `history / rows` at most. */
const MAX_RATIO = { decimals: 0.1, full: 0.5 };

/**
 * Bytes after a flush and a compaction, as Cassandra itself counts them. The layouts are packed hours, batches as devices send them, and
 * one row per sample as in the usual model.
 */
export const createDiskPart = (daysOf: typeof DAYS): Part<Result[]> => ({
  name: 'disk',
  title: 'Bytes a sample on disk, 1 Hz with 20 ms of jitter',

  async run({ environment, status }) {
    const results = [];
    for (const signal of SIGNALS) {
      const config = await environment.prepare(`disk-${signal}`);
      const samples = { history: 0, batches: 0, rows: 0 };
      for (const [into, days] of Object.entries(daysOf) as Array<[Layout, number]>) {
        const to = bucketOf(Date.now()) - PACK_DELAY_MS;
        const loaded = await build({
          config,
          fleet: { seed: 1, devices: 1, sensors: 1 },
          set: { seed: 1, signal, intervalMs: 1000, jitterMs: 20, from: to - days * DAY_MS, to },
          into,
          onProgress: (done) => status(`${signal}, ${into}: ${done} samples`),
        });
        samples[into] = loaded.samples;
      }
      status(`${signal}: flushing and compacting`);
      const bytes = await tableBytes(environment, config.cql.keyspace, Object.values(TABLES));
      const bytesPerSample = (name: keyof typeof TABLES, layout: Layout) =>
        Number(bytes[TABLES[name]]) / samples[layout];
      results.push({
        signal,
        samples,
        history: bytesPerSample('history', 'history'),
        statistics: bytesPerSample('statistics', 'history'),
        batches: bytesPerSample('batches', 'batches'),
        rows: bytesPerSample('rows', 'rows'),
      });
    }
    return results;
  },

  tables: (results) => [
    {
      head: [
        'bytes a sample',
        ...['history', 'its statistics', 'one row per sample', 'history / rows', 'batches of a minute'],
      ],
      rows: results.map(({ signal, history, statistics, rows, batches }) => [
        LABELS[signal],
        ...[history, statistics, rows, history / rows, batches].map((number) => figure(number)),
      ]),
    },
  ],

  targets: (results) =>
    results.map(({ signal, history, rows }) => ({
      figure: `bytes a sample in history, against one row per sample on disk, ${LABELS[signal]}`,
      atMost: MAX_RATIO[signal],
      value: history / rows,
    })),
});

export const disk = createDiskPart(DAYS);
