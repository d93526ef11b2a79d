import { bucketOf } from '../../../schema/rules.ts';
import { until } from '../until.ts';

/** A margin, in ms, that is longer than the work of a test within one hour. */
const MARGIN_MS = 60_000;

/**
 * Waits, at the end of an hour, for the next one. A test whose write timestamps must be of one hour begins after it. Other tests set a
 * clock instead.
 */
export const untilHourGoesOn = () =>
  until(() => bucketOf(Date.now()) === bucketOf(Date.now() + MARGIN_MS), {
    withinMs: 2 * MARGIN_MS,
    what: 'the next hour',
  });
