import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { EpisodeTracker, thresholdOf } from '../../../../api/features/alarms/evaluation/condition.ts';
import type { RuleCondition } from '../../../../api/features/alarms/rules/rule.ts';
import { useStarted } from '../../../support/clean-ups.ts';
import { startMemoryAlarms } from '../../../support/features/alarms/memory-alarms.ts';
import { trueEpisodes } from '../../../support/history/true-episodes.ts';
import { runs } from '../../../support/runs.ts';

const HOUR_MS = 3_600_000;
const NOW = Date.UTC(2026, 10, 21, 12, 20);
const SINCE = NOW - 40 * HOUR_MS;

const RUNS = runs(15);

/** Each call returns a later time. Two evaluations in the same ms could not be ordered by it. */
let calls = 0;
const clock = () => NOW + calls++;

const system = useStarted(
  () => startMemoryAlarms({ clock }),
  ({ stop }) => stop(),
);

const CONDITIONS: RuleCondition[] = [
  { kind: 'above', limit: 2 },
  { kind: 'above', limit: 2, clear: 0 },
  { kind: 'above', limit: 1, clear: 0, for_ms: HOUR_MS },
  { kind: 'below', limit: -1, clear: 1, for_samples: 3 },
  { kind: 'outside', limit: [-2, 2], clear: [-1, 1] },
  { kind: 'rate', limit: 0.001, clear: 0.0005 },
  { kind: 'absent', for_ms: 2 * HOUR_MS },
];

/** Times of three kinds: minutes ago, in open hours, and in hours that have closed. */
const instant = fc.oneof(
  fc.integer({ min: 0, max: 30 }).map((minutes) => NOW - minutes * 60_000),
  fc.integer({ min: 0, max: 60 }).map((steps) => NOW - steps * 120_000),
  fc.integer({ min: 0, max: 60 }).map((steps) => NOW - steps * 1_800_000),
);

const arrival = fc.record({
  condition: fc.constantFrom(...CONDITIONS),
  samples: fc.uniqueArray(fc.tuple(instant, fc.integer({ min: -4, max: 4 })), {
    minLength: 1,
    maxLength: 24,
    selector: ([ts]) => ts,
  }),
  order: fc.infiniteStream(fc.nat()),
  sizes: fc.infiniteStream(fc.integer({ min: 1, max: 6 })),
  isRepeated: fc.infiniteStream(fc.boolean()),
  waits: fc.infiniteStream(fc.boolean()),
});

let devices = 0;

test(
  'Alarm episodes: samples arrive out of order and twice: start and end of each alarm equal those of ordered samples',
  async () => {
    await fc.assert(
      fc.asyncProperty(arrival, async ({ condition, samples, order, sizes, isRepeated, waits }) => {
        const device = `device-${devices++}`;
        await system.addRule({ scope: { device }, condition }, SINCE);
        const again = samples.filter(() => isRepeated.next().value);
        const shuffled = [...samples, ...again]
          .map((sample) => ({ sample, place: order.next().value }))
          .sort((a, b) => Number(a.place) - Number(b.place))
          .map(({ sample }) => sample);
        while (shuffled.length > 0) {
          const message = shuffled.splice(0, Number(sizes.next().value));
          await system.measure(
            device,
            message.map(([ts, value]) => ({ sensor_id: 's', ts, value })),
          );
          if (waits.next().value) await system.evaluated();
        }
        await system.evaluated();
        const inOrder = samples.sort(([a], [b]) => a - b);
        const all = trueEpisodes(condition, inOrder, { since: SINCE, now: NOW + calls });
        // `life.test.ts` tests the detection of a silence that continues.
        const expected = all.filter(({ cleared }) => condition.kind !== 'absent' || cleared !== null);
        const found = await system.episodes(device, 's');
        expect(found.map(({ late: _, ...episode }) => episode)).toEqual(expected);
      }),
      { numRuns: RUNS },
    );
  },
  RUNS * 5000,
);

// grafana PR#102780
test.each([
  ['for_ms', { for_ms: 600_000 }],
  ['for_samples', { for_samples: 3 }],
])(
  'Alarm rule with %s and clear: one spike, then values between limit and clear: no alarm opens',
  (_, more) => {
    const condition = { kind: 'above', limit: 30, clear: 25, ...more } as const;
    const tracker = new EpisodeTracker(thresholdOf(condition), 10);
    for (const [minute, value] of [31, 26, 26, 26, 26].entries()) tracker.take(minute * 300_000, value);
    expect(tracker.found.count).toBe(0);
    for (const [minute, value] of [31, 31, 31, 26, 25].entries()) tracker.take((minute + 5) * 300_000, value);
    expect(tracker.found.episodes).toEqual([
      { start: 1_500_000, opened: 2_100_000, cleared: 2_700_000, peak: 31 },
    ]);
  },
);
