import { formatTime } from '../../../common/times.ts';
import { keyOf } from '../../http/index.ts';
import type { JudgedItem } from '../../http/stream/latest-cache.ts';
import type { Baseline, Baselines } from './baselines.ts';

/**
 * Ranks the newest values of all sensors by how unusual they are. The server does this, because it has the baselines (the usual
 * value of each sensor by hour). So a client gets the most unusual of 100,000 sensors without receiving all of them.
 */

export const OUTLIER_SIGMAS = 4.5;

export type OutlierDeps = { baselines: Pick<Baselines, 'at'>; context: { clock: () => number } };

/** An answer is reused for this time in ms, because many dashboards send the same request. */
const MAX_AGE_MS = 2000;

type OutlierFilter = { type: string | undefined; site: string | undefined };

type Judged = JudgedItem & { sigmas: number; ts: string; value: number };

interface Group {
  site: string | null;
  /** null: the group is a site, not a device */
  deviceId: string | null;
  device: string | null;
  sensors: number;
  /** newest values that were compared with a baseline */
  judged: number;
  /** newest values that are outliers */
  outliers: number;
  /** null: no sensor was judged */
  worst: Judged | null;
}

export function createRanking({
  latest,
  clock,
}: {
  /** its items may change later, so answers hold copies */
  latest: () => Promise<JudgedItem[]>;
  clock: () => number;
}) {
  const recent: Map<string, { at: number; answer: Promise<unknown> }> = new Map();

  function once<T>(question: string, compute: () => Promise<T>): Promise<T> {
    const now = clock();
    for (const [asked, { at }] of recent) if (Math.abs(now - at) >= MAX_AGE_MS) recent.delete(asked);
    const known = recent.get(question);
    // A question is always asked with the same `compute`.
    if (known) return known.answer as Promise<T>;
    const answer = compute();
    recent.set(question, { at: now, answer });
    // A failed answer is not cached, so the next request tries again.
    answer.catch(() => recent.delete(question));
    return answer;
  }

  return {
    /** Counts all sensors that match the filter; the most unusual outlier comes first. */
    sensors: (filter: OutlierFilter): Promise<{ sensors: number; judged: number; outliers: Judged[] }> =>
      once(JSON.stringify(['sensors', filter]), async () => {
        const items = (await once('latest', latest)).filter((item) => isWanted(item, filter));
        const judged = items.filter(isJudged);
        const outliers = judged
          .filter(isOutlier)
          .sort(byUnusual)
          .map((item) => ({ ...item }));
        return { sensors: items.length, judged: judged.length, outliers };
      }),

    /** The group with the most unusual value comes first. */
    groups: (by: 'site' | 'device', filter: OutlierFilter): Promise<Group[]> =>
      once(JSON.stringify([by, filter]), async () => {
        const groups: Map<string | null, Group> = new Map();
        for (const item of await once('latest', latest)) {
          if (!isWanted(item, filter)) continue;
          const key = by === 'site' ? item.site : item.device_id;
          const group = groups.get(key) ?? newGroup(by, item);
          groups.set(key, group);
          add(group, item);
        }
        for (const group of groups.values()) group.worst &&= { ...group.worst };
        return [...groups.values()].sort(byWorst);
      }),
  };
}

const isWanted = (item: JudgedItem, { type, site }: OutlierFilter) =>
  (type === undefined || item.type === type) && (site === undefined || item.site === site);

const isJudged = (item: JudgedItem): item is Judged =>
  item.sigmas !== undefined && item.ts !== null && item.value !== null;

const isOutlier = ({ sigmas }: Judged) => Math.abs(sigmas) >= OUTLIER_SIGMAS;

/** Equal values are ordered by key, so that every process gives the same order. */
const byUnusual = (a: Judged, b: Judged) =>
  Math.abs(b.sigmas) - Math.abs(a.sigmas) || (keyOf(a) < keyOf(b) ? -1 : Number(keyOf(a) > keyOf(b)));

function byWorst(a: Group, b: Group) {
  if (a.worst && b.worst) return byUnusual(a.worst, b.worst);
  if (a.worst || b.worst) return a.worst ? -1 : 1;
  return nameOf(a) < nameOf(b) ? -1 : Number(nameOf(a) > nameOf(b));
}

const nameOf = ({ deviceId, device, site }: Group) =>
  deviceId === null ? (site ?? '') : (device ?? deviceId);

const newGroup = (by: 'site' | 'device', { site, device, device_id }: JudgedItem): Group => ({
  site,
  deviceId: by === 'site' ? null : device_id,
  device: by === 'site' ? null : device,
  sensors: 0,
  judged: 0,
  outliers: 0,
  worst: null,
});

function add(group: Group, item: JudgedItem) {
  group.sensors++;
  if (!isJudged(item)) return;
  group.judged++;
  if (isOutlier(item)) group.outliers++;
  if (!group.worst || byUnusual(item, group.worst) < 0) group.worst = item;
}

export const outlierItem = (item: Judged, { baselines, context: { clock } }: OutlierDeps) => ({
  ...item,
  baseline: baselines.at(keyOf(item), item.ts),
  age_ms: Math.max(0, clock() - Date.parse(item.ts)),
});

export const groupItem = (
  { site, deviceId, device, sensors, judged, outliers, worst }: Group,
  deps: OutlierDeps,
) => ({
  site,
  device_id: deviceId,
  device,
  sensors,
  judged,
  outliers,
  worst: worst && outlierItem(worst, deps),
});

export const baselineHourItem = ({ ts, mean, deviation }: Baseline & { ts: number }) => ({
  ts: formatTime(ts),
  mean,
  deviation,
});
