import { createAlarmDeliveryStore } from './deliveries.js';
import { createAlarmStore } from './episodes.js';
import { createAlarmProgress } from './progress.js';
import { createAlarmRuleStore } from './rules.js';

/** @import { Session } from '../sending/session.js' */

/**
 * The tables of alarms. None of them is written through the gate of ingest: alarms never wait for a place of a message.
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
