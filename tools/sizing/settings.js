import { namesOf } from '../../schema/migrate/installation.js';
import { groupsFor } from '../../schema/sizes.js';

/** @import { Fleet } from './traffic.js' */

/**
 * The settings that the first migration stores, as lines of `.env`. Every process needs the same.
 *
 * @param {Fleet} fleet
 * @returns {string[]} `LATEST_GROUPS=128`
 */
export function settingLines({ sensors, batchDays, historyDays }) {
  const stored = namesOf({ latestGroups: groupsFor(sensors), batchDays, historyDays });
  return Object.entries(stored).map(([name, value]) => `${name}=${value}`);
}
