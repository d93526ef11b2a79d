const PREFIX = 'iot/live/';

/** What readers of the whole fleet subscribe to. */
export const EVERY_DEVICE = '+';

/** @param {string} device its id, or `EVERY_DEVICE` */
export const liveTopic = (device) => PREFIX + device;

const STATS = `${PREFIX}stats/`;

/** What those subscribe to who add up what all processes do. */
export const EVERY_PROCESS = `${STATS}+`;

/** @param {string} process its name @returns {string} of ASCII, whatever the name is */
export const statsTopic = (process) => STATS + encodeURIComponent(process);

/** @param {string} topic below `iot/live/` @returns {string | null} the process of which it tells */
export function statsProcess(topic) {
  if (!topic.startsWith(STATS)) return null;
  try {
    return decodeURIComponent(topic.slice(STATS.length));
  } catch {
    // Not one of ours.
    return '';
  }
}

/** @param {string} topic below `iot/live/` @returns {string} the device's id */
export const liveDevice = (topic) => topic.slice(PREFIX.length);

/**
 * Whether a filter may match what is published here: by its first two levels, which is enough for nobody to be missed.
 *
 * @param {string} filter
 */
export function reachesLive(filter) {
  const [first = '', second = '#'] = filter.split('/', 2);
  return first === '#' || (['+', 'iot'].includes(first) && ['+', '#', 'live'].includes(second));
}
