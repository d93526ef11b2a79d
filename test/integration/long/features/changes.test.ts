import { beforeAll, expect, test } from '@jest/globals';
import {
  type Change,
  Changes,
  type Position,
  type Progress,
} from '../../../../api/features/changes/changes.ts';
import { createBlockStore } from '../../../../api/features/shared/blocks/index.ts';
import { bucketOf, HOUR_MS } from '../../../../schema/rules.ts';
import { untilHourGoesOn } from '../../../support/history/hours.ts';
import type { Json } from '../../../support/json.ts';
import { useTestSystem } from '../../../support/system/use.ts';

const MINUTE_MS = 60_000;

/** How far the clock of the system is ahead, in ms. Write timestamps are real, so only this clock closes hours. */
let shift = 0;
const clock = () => Date.now() + shift;

/** Everything that was sent, as `device ts value`. */
const sent: Set<string> = new Set();

/** Time of the first sample, in epoch ms. All commits of the fixture fall into this hour. */
let begun = 0;
let begunHour = 0;

async function post(device: string, samples: Array<[ts: number, value: number]>) {
  const response = await system.post(
    `/measurements?device=${device}`,
    samples.map(([ts, value]) => ({ sensor_id: 's', ts, value })),
  );
  expect(response.status).toBe(200);
  for (const [ts, value] of samples) sent.add(`${device} ${ts} ${value}`);
}

async function ask(since: string, limit: number): Promise<Json[]> {
  const response = await system.fetch(`/changes?since=${encodeURIComponent(since)}&limit=${limit}`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
  const text = await response.text();
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** Follows the cursors, a few lines at a time, until a watermark. @param until epoch ms */
async function follow(since: string, until: number, limit: number = 3) {
  const samples = [];
  const lines = [];
  for (let cursor = since; ; ) {
    for (const line of await ask(cursor, limit)) {
      cursor = line.cursor;
      lines.push(line);
      for (const { samples: some } of line.sensors ?? [])
        for (const [ts, value] of some) samples.push(`${line.device} ${ts} ${value}`);
    }
    const last = lines.at(-1);
    if (last.kind === 'watermark' && Date.parse(last.until) >= until) return { samples, lines };
  }
}

const system = useTestSystem({ settings: { LATEST_GROUPS: '2' }, clock });
beforeAll(async () => {
  await untilHourGoesOn();
  begun = Date.now();
  begunHour = bucketOf(begun);
  const orderly = (index: number) => [begun - 1000 * index, index / 4];
  for (const device of ['a', 'b', 'c']) await post(device, [0, 1, 2, 3].map(orderly) as [number, number][]);
  // This sample is in an open hour, and older than the window of changes.
  await post('a', [[begun - 40 * MINUTE_MS, -0.5]]);
  // These samples are in closed hours, so they are late. They do not fit into one answer.
  for (const device of ['a', 'b', 'c']) await post(device, [[begun - 5 * HOUR_MS, 7]]);
  await post('b', [[begun - 6 * HOUR_MS, 7]]);
});

test('GET /changes: reader begins at the present hour and continues by cursor: it gets every sample once', async () => {
  const joined = await ask(new Date(begunHour).toISOString(), 1);
  // From this cursor on, the reader gets windows of time, which the clock passes one by one.
  shift = 2 * MINUTE_MS;
  await post('d', [[Date.now(), 1.25]]);
  shift = 3 * HOUR_MS;
  const { samples, lines } = await follow(joined[0].cursor, begunHour + HOUR_MS, 1);
  const first = joined.flatMap(({ device, sensors = [] }) =>
    sensors.flatMap(({ samples: some }: { samples: [ts: number, value: number][] }) =>
      some.map(([ts, value]: [number, number]) => `${device} ${ts} ${value}`),
    ),
  );
  const all = [...first, ...samples];
  // The reader did not ask for the hour before the present one.
  const wanted = [...sent].filter((text) => Number(text.split(' ')[1]) >= begunHour || text.endsWith(' 7'));
  expect(all.sort()).toEqual(wanted.sort());
  expect(lines.some(({ kind, late }) => kind === 'batch' && late)).toBe(true);
});

test('GET /changes: reader begins in the past: samples of closed hours come whole, late samples in the hour of their arrival', async () => {
  shift = 6 * HOUR_MS;
  const { samples } = await follow(new Date(begunHour - HOUR_MS).toISOString(), begunHour + HOUR_MS, 1000);
  expect(samples.sort()).toEqual([...sent].sort());
});

test('Reader of changes: stops between two changes: it can continue at this position; an abort ends the reading', async () => {
  const store = await system.openStore();
  const changes = new Changes({
    store,
    blocks: createBlockStore(store.session),
    groups: 2,
    horizon: { read: async () => clock() },
    clock,
  });
  const { signal } = new AbortController();
  const readAll = async (position: Position) => {
    const read: Array<Change | Progress> = [];
    for await (const change of changes.read(position, signal)) read.push(change);
    return read;
  };
  const textsOf = (read: Array<Change | Progress>) => read.flatMap(({ text }) => text ?? []);
  for (const step of ['hour', 'late'] as const) {
    for (const at of [begunHour, bucketOf(begun - 5 * HOUR_MS), begunHour - 100 * HOUR_MS]) {
      const all = await readAll({ step, at, from: at });
      const places = [...all.entries()].filter(([, { text }]) => text === null);
      expect(places.length > 0).toBe(step === 'hour' || at === begunHour);
      for (const [index, { position }] of places)
        expect(textsOf(await readAll(position))).toEqual(textsOf(all.slice(index)));
    }
  }

  const leaving = new AbortController();
  const empty = begunHour - 100 * HOUR_MS;
  const begunRead = changes.read({ step: 'hour', at: empty, from: empty }, leaving.signal);
  expect((await begunRead.next()).value).toMatchObject({ text: null });
  leaving.abort();
  await expect(begunRead.next()).rejects.toThrow('aborted');
});
