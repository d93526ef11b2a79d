import { formatTime } from '../../common/times.js';
import { keyOf } from './stream/latest-cache.js';

/** @import { Baseline } from '../history/baselines/index.js' */
/** @import { RouteDeps } from './api.js' */
/** @import { JudgedItem } from './stream/latest-cache.js' */

/**
 * Ranks the newest values of all sensors by how unusual they are. The server does this, because it has the baselines (the usual
 * value of each sensor by hour). So a client gets the most unusual of 100,000 sensors without receiving all of them.
 */

/** Number of standard deviations from the mean from which a value is an outlier. */
export const OUTLIER_SIGMAS = 4.5;

/** Time in ms for which an answer is reused. Many dashboards send the same request. */
const MAX_AGE_MS = 2000;

/** @typedef {{ type: string | undefined, site: string | undefined }} OutlierFilter */

/** @typedef {JudgedItem & { sigmas: number, ts: string, value: number }} Judged */

/**
 * Sensors that are shown as one entry: the sensors of a site, or of a device.
 *
 * @typedef {object} Group
 * @property {string | null} site
 * @property {string | null} deviceId null: the group is a site
 * @property {string | null} device name of the device
 * @property {number} sensors number of sensors
 * @property {number} judged number of sensors whose newest value was compared with a baseline
 * @property {number} outliers number of sensors whose newest value is an outlier
 * @property {Judged | null} worst the most unusual value; null: no sensor was judged
 */

/**
 * Returns functions that rank sensors, sites and devices.
 *
 * @param {object} deps
 * @param {() => Promise<JudgedItem[]>} deps.latest reads the newest values; its items may change later, so answers hold copies
 * @param {() => number} deps.clock epoch ms
 */
export function createRanking({ latest, clock }) {
  /** @type {Map<string, { at: number, answer: Promise<any> }>} */
  const recent = new Map();

  /**
   * Computes an answer, or reuses a recent answer to the same question.
   *
   * @template T
   * @param {string} question
   * @param {() => Promise<T>} compute
   * @returns {Promise<T>}
   */
  function once(question, compute) {
    const now = clock();
    for (const [asked, { at }] of recent) if (Math.abs(now - at) >= MAX_AGE_MS) recent.delete(asked);
    const known = recent.get(question);
    if (known) return known.answer;
    const answer = compute();
    recent.set(question, { at: now, answer });
    // A failed answer is not cached, so the next request tries again.
    answer.catch(() => recent.delete(question));
    return answer;
  }

  return {
    /**
     * @param {OutlierFilter} filter
     * @returns {Promise<{ sensors: number, judged: number, outliers: Judged[] }>} numbers of all sensors
     *   that match the filter; the most unusual outlier comes first
     */
    sensors: (filter) =>
      once(JSON.stringify(['sensors', filter]), async () => {
        const items = (await once('latest', latest)).filter((item) => isWanted(item, filter));
        const judged = items.filter(isJudged);
        const outliers = judged
          .filter(isOutlier)
          .sort(byUnusual)
          .map((item) => ({ ...item }));
        return { sensors: items.length, judged: judged.length, outliers };
      }),

    /**
     * @param {'site' | 'device'} by
     * @param {OutlierFilter} filter
     * @returns {Promise<Group[]>} the group with the most unusual value comes first
     */
    groups: (by, filter) =>
      once(JSON.stringify([by, filter]), async () => {
        /** @type {Map<string | null, Group>} */
        const groups = new Map();
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

/** @typedef {ReturnType<typeof createRanking>} Ranking */

/** @param {JudgedItem} item @param {OutlierFilter} filter */
const isWanted = (item, { type, site }) =>
  (type === undefined || item.type === type) && (site === undefined || item.site === site);

/** @param {JudgedItem} item @returns {item is Judged} */
const isJudged = (item) => item.sigmas !== undefined && item.ts !== null && item.value !== null;

/** @param {Judged} item */
const isOutlier = ({ sigmas }) => Math.abs(sigmas) >= OUTLIER_SIGMAS;

/**
 * Orders equally unusual values by key, so that every process gives the same order.
 *
 * @param {Judged} a
 * @param {Judged} b
 */
const byUnusual = (a, b) =>
  Math.abs(b.sigmas) - Math.abs(a.sigmas) || (keyOf(a) < keyOf(b) ? -1 : Number(keyOf(a) > keyOf(b)));

/** @param {Group} a @param {Group} b */
function byWorst(a, b) {
  if (a.worst && b.worst) return byUnusual(a.worst, b.worst);
  if (a.worst || b.worst) return a.worst ? -1 : 1;
  return nameOf(a) < nameOf(b) ? -1 : Number(nameOf(a) > nameOf(b));
}

/** @param {Group} group */
const nameOf = ({ deviceId, device, site }) => (deviceId === null ? (site ?? '') : (device ?? deviceId));

/** @param {'site' | 'device'} by @param {JudgedItem} item @returns {Group} */
const newGroup = (by, { site, device, device_id }) => ({
  site,
  deviceId: by === 'site' ? null : device_id,
  device: by === 'site' ? null : device,
  sensors: 0,
  judged: 0,
  outliers: 0,
  worst: null,
});

/** @param {Group} group @param {JudgedItem} item */
function add(group, item) {
  group.sensors++;
  if (!isJudged(item)) return;
  group.judged++;
  if (isOutlier(item)) group.outliers++;
  if (!group.worst || byUnusual(item, group.worst) < 0) group.worst = item;
}

/**
 * @param {Judged} item
 * @param {Pick<RouteDeps, 'baselines' | 'clock'>} deps
 */
export const outlierItem = (item, { baselines, clock }) => ({
  ...item,
  baseline: baselines.at(keyOf(item), item.ts),
  age_ms: Math.max(0, clock() - Date.parse(item.ts)),
});

/** @param {Group} group @param {Pick<RouteDeps, 'baselines' | 'clock'>} deps */
export const groupItem = ({ site, deviceId, device, sensors, judged, outliers, worst }, deps) => ({
  site,
  device_id: deviceId,
  device,
  sensors,
  judged,
  outliers,
  worst: worst && outlierItem(worst, deps),
});

/** @param {Baseline & { ts: number }} hour */
export const baselineHourItem = ({ ts, mean, deviation }) => ({ ts: formatTime(ts), mean, deviation });
