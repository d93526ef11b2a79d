import { createAlarmDeliveryStore } from './deliveries.js';
import { createAlarmStore } from './episodes.js';
import { createAlarmProgress } from './progress.js';
import { createAlarmRuleStore } from './rules.js';

/** @import { Session } from '../sending/session.js' */

/**
 * Creates the stores of all alarm tables. Alarm writes do not use the congestion window of ingest, so alarms
 * never wait for messages.
 *
 * @param {Session} session
 */
export const createAlarmTables = (session) => ({
  rules: createAlarmRuleStore(session),
  episodes: createAlarmStore(session),
  deliveries: createAlarmDeliveryStore(session),
  progress: createAlarmProgress(session),
});

/** @typedef {ReturnType<typeof createAlarmTables>} AlarmTables */
