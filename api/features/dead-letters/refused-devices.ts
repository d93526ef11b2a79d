import type { RequestHandler } from 'express';
import { formatTime } from '../../../common/times.ts';
import { identifyDevice } from '../../../schema/ids.ts';
import { HOUR_MS, MOST_CLOCK_DIFFERENCE_MS } from '../../../schema/rules.ts';
import type { Core } from '../../feature.ts';
import type { Operation } from '../../http/contract/operation.ts';
import { json, readQuery } from '../../http/index.ts';
import type { Route } from '../../http/route.ts';
import { SCHEMAS } from './schemas.ts';
import type { DeadLetterReads } from './store.ts';

/** In ms. Only refusals of this time count. */
const WINDOW_MS = 300_000;

/** Time in ms for which an answer is cached. After a long count it is MAX_SHARE times the duration of the count. */
const MAX_AGE_MS = 10_000;
const MAX_SHARE = 10;

/** The devices with the most refusals are listed. */
const MAX_DEVICES = 1000;

type Deps = Core & { deadLetters: DeadLetterReads };

/** `GET /dead-letters/devices`: devices whose measurements were refused within the last five minutes. */
export function getRefusedDevices({ deadLetters, context: { clock } }: Deps): RequestHandler {
  const { refusedByDevice, summary } = deadLetters;
  const refusedDevices = createRefusedDevices({ count: refusedByDevice, summarize: summary, clock });
  return async (req, res) => {
    readQuery(req, {});
    res.json(await refusedDevices.read());
  };
}

export type RefusedDevice = { device_id: string; device: string; refused: number; newest: string };

export type RefusedDevices = { items: RefusedDevice[]; dead_letters: number; from: string; to: string };

/** One count serves all concurrent requests. */
export function createRefusedDevices({
  count,
  summarize,
  clock,
  monotonic = () => performance.now(),
}: {
  count: DeadLetterReads['refusedByDevice'];
  summarize: DeadLetterReads['summary'];
  clock: () => number;
  monotonic?: () => number;
}) {
  let answer: Promise<RefusedDevices> | null = null;
  let validUntil = Number.POSITIVE_INFINITY;

  async function countNow() {
    const startedAt = monotonic();
    const now = clock();
    // The time of a dead letter comes from the process that received the message. Its clock may be ahead.
    const to = now + MOST_CLOCK_DIFFERENCE_MS;
    const [counts, { hours }] = await Promise.all([
      count({ from: now - WINDOW_MS, to }),
      summarize({ from: now - HOUR_MS, to }),
    ]);
    const endedAt = monotonic();
    validUntil = endedAt + Math.max(MAX_AGE_MS, MAX_SHARE * (endedAt - startedAt));
    return {
      items: itemsOf(counts),
      dead_letters: hours.reduce((sum, hour) => sum + hour.deadLetters, 0),
      from: formatTime(now - WINDOW_MS),
      to: formatTime(now),
    };
  }

  return {
    read(): Promise<RefusedDevices> {
      if (answer && monotonic() < validUntil) return answer;
      validUntil = Number.POSITIVE_INFINITY;
      const counting = countNow();
      answer = counting;
      // After a failure, the next request counts again.
      counting.catch(() => {
        if (answer === counting) answer = null;
      });
      return counting;
    },
  };
}

/**
 * A device may use its name and its id in topics, so its refusals are added up. A text that is neither a name nor an id belongs to no
 * device, and is left out.
 */
function itemsOf(counts: Awaited<ReturnType<DeadLetterReads['refusedByDevice']>>): RefusedDevice[] {
  const devices: Map<string, { device: string; refused: number; newest: number }> = new Map();
  for (const [device, { refused, newest }] of counts) {
    const identity = identifyDevice(device);
    if (!identity) continue;
    const known = devices.get(identity.id);
    devices.set(identity.id, {
      device: known && device === identity.id ? known.device : device,
      refused: refused + (known?.refused ?? 0),
      newest: Math.max(newest, known?.newest ?? 0),
    });
  }
  return [...devices]
    .sort(([, a], [, b]) => b.refused - a.refused)
    .slice(0, MAX_DEVICES)
    .map(([device_id, { device, refused, newest }]) => ({
      device_id,
      device,
      refused,
      newest: formatTime(newest),
    }));
}

export const listRefusedDevices: Operation = {
  id: 'listRefusedDevices',
  tag: 'dead-letters',
  scope: 'read',
  summary: 'The devices whose measurements were refused within the last five minutes',
  description:
    'Most refusals first, at most 1,000 devices. `refused` counts measurements and other refused parts of messages. `newest` is the time of the newest dead letter. The counts are about 10 s old. Messages on topics without a valid device are left out. `dead_letters` is the number of all dead letters within the last hour.',
  answers: { 200: json(SCHEMAS.RefusedDevices) },
  problems: ['bad_parameter', 'unavailable'],
};

export const routes: Array<Route<Deps>> = [
  {
    method: 'get',
    path: '/api/v1/dead-letters/devices',
    operation: listRefusedDevices,
    handler: getRefusedDevices,
  },
];
