import { expect, test } from '@jest/globals';
import type { Hour, Sensor } from '../../../../api/history/reading/hours.ts';
import { readAhead, readHours, type SampleSource } from '../../../../api/history/reading/samples.ts';
import type { Series } from '../../../../schema/packed/series.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAY = Date.UTC(2026, 1, 3);
const sensor = { device: Buffer.alloc(16, 1), sensor: Buffer.alloc(16, 2), group: 0 } as Sensor;

/** @param at hours after `DAY` */
const hourOf = (at: number, hour?: Partial<Hour>): Hour => ({
  hour: DAY + at * HOUR_MS,
  packed: true,
  exact: null,
  count: 100,
  ...hour,
});

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A source with one sample at the start of each hour. History has the even hours, and batches have all hours. */
function createSource() {
  /** Requests for history: from and to in hours after `DAY`. */
  const packed: number[][] = [];
  /** Requests for batches: the hour and the first instant, in hours after `DAY`. */
  const unpacked: number[][] = [];
  const after = (ts: number) => (ts - DAY) / HOUR_MS;
  const source = {
    packed: {
      async readSamples(_sensor, from, to) {
        packed.push([after(from), after(to)]);
        const found = new Map();
        for (let hour = from; hour < to; hour += HOUR_MS)
          if (after(hour) % 2 === 0) found.set(hour, [{ times: [hour], values: [after(hour)] }]);
        return found;
      },
    },
    samples: {
      async readHour(_device, _sensor, hour, since) {
        unpacked.push([after(hour), after(since as number)]);
        return { times: [hour + 1], values: [after(hour) + 0.5] };
      },
    },
  } as SampleSource;
  return { source, packed, unpacked };
}

const valuesOf = (series: Series[]) => series.map(({ values }) => [...values]);

test('Reading samples: unpacked hours: message rows are read from the start of the hour, or from a later given time', async () => {
  const { source, unpacked } = createSource();
  const hours = [hourOf(2, { packed: false }), hourOf(3), hourOf(4, { packed: false })];
  expect(valuesOf(await readHours(source, sensor, hours, DAY + 2.5 * HOUR_MS))).toEqual([
    [2, 2.5],
    [],
    [4, 4.5],
  ]);
  expect(unpacked).toEqual([
    [2, 2.5],
    [4, 4],
  ]);
});

async function* chunksOf(...chunks: Hour[][]) {
  yield* chunks;
}

/** A source whose requests for history stay open until the test answers them. */
function createOpenSource() {
  const open: Array<{ answer: () => void; fail: () => void }> = [];
  const source = {
    packed: {
      readSamples: (_sensor: Sensor, from: number) =>
        new Promise((resolve, reject) => {
          const at = (from - DAY) / DAY_MS;
          open.push({
            answer: () => resolve(new Map([[from, [{ times: [from], values: [at] }]]])),
            fail: () => reject(new Error('away')),
          });
        }),
    },
  } as never;
  return { source, open };
}

/** The first hour of each day. */
const days = (count: number) => Array.from({ length: count }, (_, day) => hourOf(24 * day));

test('Reading samples ahead: many hours: three reads are open at once, and samples are returned in order', async () => {
  const { source, open } = createOpenSource();
  const values: number[] = [];
  const reading = (async () => {
    for await (const series of readAhead(source, sensor, chunksOf(days(3), [], days(7).slice(3))))
      values.push(...series.values);
  })();
  for (let count = 0; count < 20; count++) await turn();
  expect(open).toHaveLength(3);
  for (const { answer } of open.slice(1)) answer();
  for (let count = 0; count < 20; count++) await turn();
  expect([values, open.length]).toEqual([[], 3]);
  while (open.length > 0) {
    for (const { answer } of open.splice(0)) answer();
    for (let count = 0; count < 20; count++) await turn();
  }
  await reading;
  expect(values).toEqual([0, 1, 2, 3, 4, 5, 6]);
});

test('Reading samples ahead: client disconnects while the last reads are open: the read rejects with the abort reason', async () => {
  const { source } = createSource();
  const controller = new AbortController();
  const gone = new Error('gone');
  const values: number[] = [];
  const reading = (async () => {
    for await (const series of readAhead(source, sensor, chunksOf(days(3)), controller.signal)) {
      values.push(...series.values);
      controller.abort(gone);
    }
  })();
  await expect(reading).rejects.toBe(gone);
  expect(values).toEqual([0]);
});

test('Reading samples ahead: a read fails after its consumer has stopped: no unhandled rejection', async () => {
  const { source, open } = createOpenSource();
  const unhandled: unknown[] = [];
  const note = (error: unknown) => void unhandled.push(error);
  process.on('unhandledRejection', note);
  const series = readAhead(source, sensor, chunksOf(days(2)));
  const first = series.next();
  for (let count = 0; count < 5; count++) await turn();
  open[0]?.answer();
  expect([...((await first).value as Series).values]).toEqual([0]);
  open[1]?.fail();
  await series.return(undefined);
  for (let count = 0; count < 5; count++) await turn();
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});
