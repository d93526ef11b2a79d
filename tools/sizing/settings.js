import { namesOf } from '../../schema/migrate/installation.js';
import { groupsFor } from '../../schema/sizes.js';

/** @import { Fleet } from './traffic.js' */

/**
 * What the first migration stores of a fleet, and every process has to have the same: lines of `.env`.
 *
 * @param {Fleet} fleet
 * @returns {string[]} `LATEST_GROUPS=128`
 */
export function settingLines({ sensors, batchDays, historyDays }) {
  const stored = namesOf({ latestGroups: groupsFor(sensors), batchDays, historyDays });
  return Object.entries(stored).map(([name, value]) => `${name}=${value}`);
}
