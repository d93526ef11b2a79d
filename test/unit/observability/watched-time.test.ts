import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  MAX_UNWATCHED_SPANS,
  type UnwatchedSpan,
  UnwatchedTime,
  WatchedTime,
} from '../../../api/observability/watched-time.ts';
import type { Config } from '../../../common/settings/config.ts';
import { DAY_MS } from '../../../schema/rules.ts';
import { createMemoryStore, readMemoryTables } from '../../support/memory-store/index.ts';

/** The watched time of one process. */
type Watching = { extend: (now: number) => Promise<void> };

const BEAT_MS = 10_000;
const BREAK_MS = 25_000;
const MINUTE_MS = 60_000;

/** Ten minutes before the end of a month, so that histories cross the border of a partition. */
const START = Date.UTC(2026, 2, 1) - 10 * MINUTE_MS;

const context = {
  config: { retention: { latestGroups: 4, batchDays: 30, historyDays: 365 } } as Config,
};

let tables: Awaited<ReturnType<typeof readMemoryTables>>;
beforeAll(async () => {
  tables = await readMemoryTables();
});

/** Creates a database with a test clock and a switch that makes the database fail. */
async function createWorld() {
  const world = { now: START, isAway: false };
  const { store, database } = await createMemoryStore({
    tables,
    clock: () => world.now,
    installedAt: START - 30 * DAY_MS,
    around: (request, run) => {
      if (world.isAway && request.table === 'watched_time') throw new Error('away');
      return run();
    },
  });
  const read = (range: { from: number; to: number }) =>
    new UnwatchedTime(
      { ...context, clock: () => world.now },
      { store: store.watchedTime, everyMs: BEAT_MS },
    ).read(range);
  return {
    world,
    database,
    store: store.watchedTime,
    read,
    start(clientId: string, watches: () => boolean = () => true) {
      const watched = new WatchedTime({ store: store.watchedTime, watches, everyMs: BEAT_MS });
      return { extend: (now: number) => watched.extend(clientId, now) };
    },
  };
}

describe('Watched time', () => {
  let setup: Awaited<ReturnType<typeof createWorld>>;
  beforeEach(async () => {
    setup = await createWorld();
  });

  /** @param from s after the start @param to s */
  async function beat(watched: Watching, from: number, to: number) {
    for (let second = from; second <= to; second += BEAT_MS / 1000) {
      setup.world.now = START + second * 1000;
      await watched.extend(setup.world.now);
    }
  }

  /** @param to s @param from s @returns `10-70` in s after the start */
  async function unwatched(to: number, from: number = -3600): Promise<string[]> {
    const { spans } = await setup.read({ from: START + from * 1000, to: START + to * 1000 });
    return spans.map((span) => `${(span.from - START) / 1000}-${(span.to - START) / 1000}`);
  }

  const rows = async () =>
    (
      await setup.database.execute('SELECT * FROM watched_time WHERE month = ?', [
        new Date(Date.UTC(2026, 1, 1)),
      ])
    ).rows;

  test('Ingest heartbeats: heartbeats over ten minutes: one row of watched time is stored', async () => {
    await beat(setup.start('a'), 0, 590);
    expect(await rows()).toEqual([
      expect.objectContaining({ watched_from: new Date(START), watched_until: new Date(START + 590_000) }),
    ]);
    expect(await unwatched(600)).toEqual([]);
  });

  test('Ingest heartbeats: no heartbeat was ever stored: no unwatched span is returned, and since is null', async () => {
    expect(await setup.read({ from: START - DAY_MS, to: START })).toEqual({
      since: null,
      spans: [],
      leftOutMs: BREAK_MS,
    });
  });

  test('Ingest heartbeats: time before the first heartbeat: not reported as unwatched, because older versions stored none', async () => {
    setup.world.now = START;
    await beat(setup.start('a'), 0, 10);
    setup.world.now += 60_000;
    expect(await setup.read({ from: START - DAY_MS, to: setup.world.now })).toEqual({
      since: START,
      spans: [{ from: START + 10_000, to: START + 70_000 }],
      leftOutMs: BREAK_MS,
    });
  });

  test('Ingest heartbeats: no process runs now: the unwatched span ends now, even if the requested range ends later', async () => {
    await beat(setup.start('a'), 0, 50);
    setup.world.now = START + 70_000;
    expect(await unwatched(3600)).toEqual([]);
    setup.world.now = START + 80_000;
    expect(await unwatched(3600)).toEqual(['50-80']);
  });

  test('Ingest heartbeats: the clock is set back: a second row of watched time begins, and no unwatched span is returned', async () => {
    const watched = setup.start('a');
    await beat(watched, 100, 200);
    await beat(watched, 55, 95);
    setup.world.now = START + 200_000;
    expect(await unwatched(200)).toEqual([]);
    expect(await rows()).toHaveLength(2);
  });

  test('Ingest heartbeats: the clock is set ahead: the skipped time is an unwatched span', async () => {
    const watched = setup.start('a');
    await beat(watched, 0, 50);
    await beat(watched, 350, 400);
    expect(await unwatched(400)).toEqual(['50-350']);
  });

  test('Ingest heartbeats: midnight at the end of a month: a new row of watched time begins, without an unwatched span', async () => {
    const watched = setup.start('a');
    await beat(watched, 0, 595);
    expect(await rows()).toHaveLength(1);
    await beat(watched, 605, 645);
    const border = Date.UTC(2026, 2, 1);
    expect(await rows()).toEqual([expect.objectContaining({ watched_until: new Date(border) })]);
    const { rows: march } = await setup.database.execute('SELECT * FROM watched_time WHERE month = ?', [
      new Date(border),
    ]);
    expect(march).toEqual([
      expect.objectContaining({ watched_from: new Date(border), watched_until: new Date(START + 645_000) }),
    ]);
    expect(await unwatched(645)).toEqual([]);
    expect(await unwatched(645, 601)).toEqual([]);
  });

  test('Ingest heartbeats: more unwatched spans than one response may have: the longest are returned, in order of time', async () => {
    const lengths = Array.from(
      { length: 2 * MAX_UNWATCHED_SPANS + 500 },
      (_, index) => 30 + ((index * 7919) % 2503),
    );
    let at = 0;
    for (const length of lengths) {
      await setup.start('a').extend(START + at * 1000);
      at += length;
    }
    await setup.start('a').extend(START + at * 1000);
    setup.world.now = START + at * 1000;
    const { spans: found, leftOutMs } = await setup.read({ from: START, to: setup.world.now });
    expect(found).toHaveLength(MAX_UNWATCHED_SPANS);
    const longest = [...lengths].sort((a, b) => b - a).slice(0, MAX_UNWATCHED_SPANS);
    expect(found.map(({ from, to }) => (to - from) / 1000).sort((a, b) => b - a)).toEqual(longest);
    expect(found).toEqual([...found].sort((a, b) => a.from - b.from));
    expect(leftOutMs / 1000).toBe([...lengths].sort((a, b) => b - a)[MAX_UNWATCHED_SPANS]);
  });
});

/**
 * States of a process, each with its length in ms. `away`: the database does not answer. `disconnected`: no broker.
 */
type History = { state: 'watches' | 'away' | 'disconnected' | 'down'; ms: number }[];

const histories: fc.Arbitrary<History> = fc.array(
  fc.record({
    state: fc.constantFrom(...(['watches', 'watches', 'watches', 'away', 'disconnected', 'down'] as const)),
    ms: fc.integer({ min: 1, max: 150_000 }),
  }),
  { minLength: 1, maxLength: 8 },
);

function stepsOf(history: History) {
  let at = START;
  return history.map(({ state, ms }) => {
    const from = at;
    at += ms;
    return { state, from, to: at };
  });
}

/** Returns the heartbeats of a process. Each run of the process begins with a heartbeat. */
function beatsOf(history: History) {
  const beats = [];
  let next = START;
  let isDown = true;
  for (const { state, from, to } of stepsOf(history)) {
    if (state === 'down') {
      isDown = true;
      continue;
    }
    if (isDown) next = from;
    for (; next < to; next += BEAT_MS) {
      beats.push({ at: next, state, isFirst: isDown });
      isDown = false;
    }
  }
  return beats;
}

const watchedOf = (history: History): UnwatchedSpan[] =>
  unionOf(stepsOf(history).filter(({ state }) => state === 'watches'));

function unionOf(spans: UnwatchedSpan[]): UnwatchedSpan[] {
  const union: UnwatchedSpan[] = [];
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    const last = union.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else union.push({ from, to });
  }
  return union;
}

/** @returns the rest of the range */
function restOf(union: UnwatchedSpan[], { from, to }: UnwatchedSpan): UnwatchedSpan[] {
  const edges = [from, ...union.flatMap((span) => [span.from, span.to]), to];
  return edges
    .map((edge, index) => ({ from: Math.max(edge, from), to: Math.min(edges[index + 1] ?? 0, to) }))
    .filter((span, index) => index % 2 === 0 && span.from < span.to);
}

/** Runs processes as their histories describe. */
async function live(all: History[]) {
  const setup = await createWorld();
  const beats = all
    .flatMap((history, index) => beatsOf(history).map((beat) => ({ ...beat, index })))
    .sort((a, b) => a.at - b.at);
  const processes: Watching[] = [];
  let isConnected = true;
  for (const { at, state, isFirst, index } of beats) {
    if (isFirst) processes[index] = setup.start(`process-${index}`, () => isConnected);
    isConnected = state !== 'disconnected';
    setup.world.isAway = state === 'away';
    setup.world.now = at;
    await processes[index]?.extend(at).catch(() => {});
  }
  const end = Math.max(...all.map((history) => stepsOf(history).at(-1)?.to ?? 0));
  setup.world.isAway = false;
  setup.world.now = end;
  return { read: setup.read, end };
}

test('Unwatched time: random starts, kills and outages: all time without a receiving process is reported, to within one heartbeat', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(histories, { minLength: 1, maxLength: 3 }), async (all) => {
      const { read, end } = await live(all);
      const { since, spans } = await read({ from: START, to: end });
      const watched = all.flatMap(watchedOf);
      for (const { from, to } of watched) {
        const core = { from: from + BEAT_MS, to: to - BEAT_MS };
        if (core.from >= core.to) continue;
        // Watched time is not reported.
        expect(spans.filter((span) => span.from < core.to && span.to > core.from)).toEqual([]);
      }
      if (since === null) return;
      for (const gap of restOf(unionOf(watched), { from: since, to: end })) {
        if (gap.to - gap.from <= BREAK_MS) continue;
        // Unwatched time is reported.
        expect(spans.filter(({ from, to }) => from <= gap.from && to >= gap.to)).toHaveLength(1);
      }
    }),
    { numRuns: 60 },
  );
});

test('Unwatched time: a query for a part of the time range: returns the spans of the whole range, cut to this part', async () => {
  const edge = fc.integer({ min: -60_000, max: 1_200_000 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(histories, { minLength: 1, maxLength: 2 }),
      fc.array(fc.tuple(edge, edge), { minLength: 5, maxLength: 5 }),
      async (all, ranges) => {
        const { read, end } = await live(all);
        const { spans } = await read({ from: START, to: end });
        for (const edges of ranges) {
          const [from = 0, to = 0] = edges.map((ms) => START + ms).sort((a, b) => a - b);
          const expected = spans
            .map((span) => ({ from: Math.max(span.from, from), to: Math.min(span.to, to) }))
            .filter((span) => span.from < span.to);
          expect((await read({ from, to })).spans).toEqual(expected);
        }
      },
    ),
    { numRuns: 40 },
  );
});
