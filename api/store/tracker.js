import { channel } from 'node:diagnostics_channel';
import cassandra from 'cassandra-driver';
import { createHabits } from './habits.js';
import { SENT_REQUESTS } from './sent-request.js';

/** @typedef {import('cassandra-driver').tracker.RequestTracker} RequestTracker */

// The typings know it as an interface alone; the driver takes nothing that is no instance of the class.
const Tracker = /** @type {{ RequestTracker: new () => RequestTracker }} */ (
  /** @type {unknown} */ (cassandra.tracker)
).RequestTracker;

/**
 * Tells of every request, for tests and tools that want to see what a process says to its database, while any of them
 * listens; and of those that break a habit.
 *
 * @param {{ application: string, intended: string }} client what is said of each request of its
 * @param {import('./habits.js').OnWrongHabit} [onWrongHabit]
 * @returns {RequestTracker}
 */
export function createTracker(client, onWrongHabit) {
  const requests = channel(SENT_REQUESTS);
  const hold = onWrongHabit && createHabits(client.intended, onWrongHabit);
  /** @type {RequestTracker['onError']} */
  const tell = (coordinator, query, parameters, options) => {
    hold?.(query, options);
    if (requests.hasSubscribers) requests.publish({ ...client, coordinator, query, parameters, options });
  };
  return Object.assign(new Tracker(), { onSuccess: tell, onError: tell });
}
