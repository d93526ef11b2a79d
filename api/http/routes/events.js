import { MillraceError } from '../../../common/errors.js';
import { groupOf } from '../../../schema/ids.js';
import { DAY_MS } from '../../../schema/rules.js';
import { eventItem } from '../items.js';
import { fields, readDevice, readQuery } from '../parameters.js';
import { noSuchDevice } from './devices.js';

export const QUERY = {
  limit: fields.limit,
  cursor: fields.cursor,
  from: fields.from,
  to: fields.to,
};

/**
 * `GET /devices/{device}/events`: its births, and when it was online and offline, newest first.
 *
 * @param {import('../api.js').RouteParts} parts
 * @returns {import('express').RequestHandler}
 */
export const getEvents =
  ({ store, cursors, groups, clock, historyDays, maxClockSkewMs }) =>
  async (req, res) => {
    const { limit, cursor, from, to } = readQuery(req, QUERY);
    if (from !== undefined && to !== undefined && from > to) {
      throw new MillraceError('bad_range', 'from is after to; a range is half-open, [from, to).');
    }
    const now = clock();
    const range = {
      from: Math.max(from ?? 0, now - historyDays * DAY_MS),
      // Other processes' clocks may be ahead of ours.
      to: Math.min(to ?? Number.POSITIVE_INFINITY, now + maxClockSkewMs),
    };
    const { id, bytes } = readDevice(String(req.params['device']));
    if (!(await store.devices.device({ group: groupOf(bytes, groups), bytes }))) throw noSuchDevice();
    const scope = JSON.stringify(['events', id, from, to]);
    const after = cursor === undefined ? null : cursors.open(scope, cursor);
    const { events, next } = await store.deviceEvents.page(bytes, range, { after, limit });
    res.json({ items: events.map(eventItem), next: next && cursors.seal(scope, next) });
  };
