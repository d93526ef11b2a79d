import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { MillraceError } from '../../../../common/errors.ts';
import { formatTime } from '../../../../common/times.ts';
import { DAY_MS, dayOf } from '../../../../schema/rules.ts';
import type { Core } from '../../../feature.ts';
import type { Operation } from '../../../http/contract/operation.ts';
import {
  audit,
  cutRange,
  fields,
  json,
  PAGED,
  parseDevice,
  parseSensor,
  readJsonText,
  readQuery,
  timeOf,
} from '../../../http/index.ts';
import type { Route } from '../../../http/route.ts';
import type { Alarms } from '../alarms.ts';
import { SEVERITIES } from '../rules/rule.ts';
import { SCHEMAS } from '../schemas.ts';
import { type Alarm, alarmId, type EpisodeKey, newestFirst, parseAlarmId } from '../store/episodes.ts';
import type { AlarmTables } from '../store/index.ts';

export type AlarmDeps = Core & { alarms: Alarms; tables: AlarmTables };

/** In bytes. The longest comment, all characters escaped, fits. */
const MAX_BYTES = 8 * 1024;

/** Alarms and days that one page reads if few alarms match. Such a page may have fewer alarms than requested. */
const MAX_READ = 1000;
const MAX_DAYS = 31;

const ROWS_AT_ONCE = 100;

const MAX_DELIVERIES = 1000;

const DELIVERY_DAYS = 14;

const MAX_SHELVED_MS = 366 * DAY_MS;

export const LIST = {
  limit: fields.limit,
  cursor: fields.cursor,
  state: z
    .enum(['open', 'cleared', 'all'])
    .default('all')
    .meta({ description: 'The state of the alarms. `all` also has withdrawn ones.', example: 'open' }),
  from: fields.from,
  to: fields.to,
  device: fields.id.meta({ description: 'Alarms of this device: a UUID in lower case, or a name.' }),
  sensor: fields.id.meta({ description: 'Alarms of this sensor of `device`.' }),
  site: fields.name.meta({ description: 'Alarms of sensors of this site.' }),
  severity: z
    .enum(SEVERITIES)
    .optional()
    .meta({ description: 'Alarms of this severity.', example: 'critical' }),
};

/** Start of an alarm, and the number of alarms with that start that earlier pages have read. */
export type Place = { until: number; skip: number };

export const getAlarms =
  (deps: AlarmDeps): RequestHandler =>
  async (req, res) => {
    const {
      store,
      tables,
      http: { cursors },
    } = deps;
    const { limit, cursor, state, from, to, device, sensor, site, severity } = readQuery(req, LIST);
    const deviceBytes = device === undefined ? null : parseDevice(device);
    if (sensor !== undefined && !deviceBytes)
      throw new MillraceError('bad_parameter', 'sensor: must stand with device');
    const sensorBytes =
      deviceBytes && sensor !== undefined ? parseSensor(deviceBytes.id, sensor).bytes : null;
    const isByDay = state !== 'open' && sensorBytes === null;
    // An open alarm is kept until it ends, even beyond retention. Only a list by days must stop at the retention.
    const range = cutRange({ from, to }, deps.context, { isUnbounded: !isByDay });
    const scope = JSON.stringify(['alarms', state, from, to, deviceBytes?.id, sensor, site, severity]);
    const after: Place =
      cursor === undefined ? { until: range.to - 1, skip: 0 } : cursors.open(scope, cursor);
    const { episodes } = tables;

    async function* read(): AsyncGenerator<{ alarms: Array<Alarm | null>; keys: EpisodeKey[] }> {
      const page = { until: after.until, limit: MAX_READ + after.skip + 1 };
      if (deviceBytes && sensorBytes) {
        const alarms = await episodes.ofSensor(deviceBytes.bytes, sensorBytes, page);
        yield* inChunks(alarms, async (some) => some);
      } else if (state === 'open') {
        const open = await Promise.all(
          Array.from({ length: store.groups }, (_, group) => episodes.open(group)),
        );
        yield* inChunks(open.flat().sort(newestFirst), (keys) =>
          Promise.all(keys.map((key) => episodes.find(key))),
        );
      } else {
        const oldest = Math.max(dayOf(range.from), dayOf(after.until) - MAX_DAYS * DAY_MS);
        for (let day = dayOf(after.until); day >= oldest; day -= DAY_MS) {
          const until = Math.min(after.until, day + DAY_MS - 1);
          const keys = await episodes.ofDay(day, until, page.limit);
          yield* inChunks(keys, (some) => Promise.all(some.map((key) => episodes.find(key))));
        }
      }
    }

    const matches = (alarm: Alarm) =>
      (state === 'all' || (!alarm.withdrawn && (state === 'open') === (alarm.cleared === null))) &&
      (site === undefined || alarm.site === site) &&
      (severity === undefined || alarm.severity === severity) &&
      (!deviceBytes || alarm.device.equals(deviceBytes.bytes));

    const found: Alarm[] = [];
    let place = after;
    let { skip } = after;
    let isEnd = true;
    let seen = 0;
    search: for await (const { alarms, keys } of read()) {
      for (const [index, { start }] of keys.entries()) {
        if (start > after.until) continue;
        if (start < range.from) break search;
        if (start === after.until && skip > 0) {
          skip--;
          continue;
        }
        if (found.length === limit || seen === MAX_READ) {
          isEnd = false;
          break search;
        }
        seen++;
        place = start === place.until ? { until: start, skip: place.skip + 1 } : { until: start, skip: 1 };
        const alarm = alarms[index];
        if (alarm && matches(alarm)) found.push(alarm);
      }
    }
    const oldestRead = dayOf(after.until) - MAX_DAYS * DAY_MS;
    if (isEnd && isByDay && oldestRead > dayOf(range.from)) {
      // The page has read its limit of days without reaching the start of the range. Earlier days may have alarms, too.
      place = { until: oldestRead - 1, skip: 0 };
      isEnd = false;
    }
    res.json({ items: found.map(deps.alarms.toItem), next: isEnd ? null : cursors.seal(scope, place) });
  };

async function* inChunks<K extends EpisodeKey>(keys: K[], read: (keys: K[]) => Promise<Array<Alarm | null>>) {
  for (let from = 0; from < keys.length; from += ROWS_AT_ONCE) {
    const some = keys.slice(from, from + ROWS_AT_ONCE);
    yield { alarms: await read(some), keys: some };
  }
}

export const getAlarmEvents =
  ({ tables }: AlarmDeps): RequestHandler =>
  async (req, res) => {
    readQuery(req, {});
    const key = keyOf(req);
    if (!(await tables.episodes.find(key))) throw new MillraceError('not_found', NOT_FOUND);
    const events = await tables.episodes.history(key);
    const items = events.map(({ at, kind, actor, comment }) => ({
      ts: formatTime(at),
      kind,
      by: actor,
      comment,
    }));
    res.json({ items });
  };

export const postAcknowledgement =
  ({ alarms, context: { logger } }: AlarmDeps): RequestHandler =>
  async (req, res) => {
    readQuery(req, {});
    const key = keyOf(req);
    const { by, comment } = await readBody(req, res, SCHEMAS.Acknowledgement);
    const alarm = await alarms.acknowledge(key, {
      by: by ?? res.locals['caller'].by,
      comment: comment ?? null,
    });
    audit(logger, res, 'an alarm was acknowledged', alarmId(key));
    res.json(alarms.toItem(alarm));
  };

/** `POST /alarms/{alarm_id}/shelve`: postpones the deliveries of the alarm. */
export const postShelving =
  ({ alarms, context: { clock, logger } }: AlarmDeps): RequestHandler =>
  async (req, res) => {
    readQuery(req, {});
    const key = keyOf(req);
    const { by, comment, until } = await readBody(req, res, SCHEMAS.Shelving);
    const given = {
      by: by ?? res.locals['caller'].by,
      // A time in the past is allowed: it ends the shelving.
      until: timeOf(until, { max: clock() + MAX_SHELVED_MS }),
      comment: comment ?? null,
    };
    const alarm = await alarms.shelve(key, given);
    audit(logger, res, 'an alarm was shelved', alarmId(key));
    res.json(alarms.toItem(alarm));
  };

export const getDeliveries =
  ({ tables, context: { clock } }: AlarmDeps): RequestHandler =>
  async (req, res) => {
    readQuery(req, {});
    const now = clock();
    const found = await tables.deliveries.begunIn({ from: now - DELIVERY_DAYS * DAY_MS, to: now + 1 });
    const items = found
      .sort((a, b) => b.begunAt - a.begunAt)
      .slice(0, MAX_DELIVERIES)
      .map(({ key, target, event, begunAt, attempts, failedAt, error }) => ({
        alarm_id: alarmId(key),
        target,
        event,
        begun_at: formatTime(begunAt),
        attempts,
        failed_at: failedAt === null ? null : formatTime(failedAt),
        error,
      }));
    res.json({ items });
  };

/** For device and sensor. No real one has this id. */
const TEST_ID = Buffer.alloc(16);

export const postDeliveryTest =
  ({ alarms, context: { clock, logger } }: AlarmDeps): RequestHandler =>
  async (req, res) => {
    readQuery(req, {});
    const now = clock();
    const items = await alarms.testDelivery({
      device: TEST_ID,
      sensor: TEST_ID,
      rule: TEST_ID,
      start: now,
      opened: now,
      cleared: now,
      peak: 0,
      version: 1,
      ruleName: 'Test of Millrace',
      severity: 'info',
      condition: null,
      deviceName: 'test',
      sensorName: 'test',
      site: null,
      unit: null,
      late: false,
      withdrawn: false,
      acknowledgedAt: null,
      acknowledgedBy: null,
      comment: null,
      shelvedUntil: null,
    });
    audit(logger, res, 'a test of deliveries was sent', items.map(({ target }) => target).join(' '));
    res.json({ items });
  };

const NOT_FOUND = 'There is no such alarm, or it has expired.';

/** @throws `not_found` */
function keyOf(req: Request): EpisodeKey {
  const key = parseAlarmId(String(req.params['alarm_id']));
  if (!key) throw new MillraceError('not_found', NOT_FOUND);
  return key;
}

/** @throws `malformed` */
async function readBody<S extends z.ZodType>(req: Request, res: Response, schema: S): Promise<z.infer<S>> {
  const text = await readJsonText(req, res, MAX_BYTES);
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    const message = 'Send only the members of the document, such as {"by": "Ada", "comment": "…"}.';
    throw new MillraceError('malformed', message, { cause: error });
  }
}

export const listAlarms: Operation = {
  id: 'listAlarms',
  tag: 'alarms',
  scope: 'read',
  summary: 'The alarms of the installation, newest first, page by page',
  description:
    'An alarm must match all filters; the range is that of its start. A page may be short, even empty, before the last one. Alarms are kept for `HISTORY_DAYS`, and open ones until they end. `state=open` lists all open alarms.',
  query: LIST,
  answers: { 200: json(SCHEMAS.AlarmPage) },
  links: { events: { to: 'listAlarmEvents', parameters: { alarm_id: '$response.body#/items/0/alarm_id' } } },
  problems: [...PAGED, 'bad_range', 'bad_id'],
};

export const listAlarmEvents: Operation = {
  id: 'listAlarmEvents',
  tag: 'alarms',
  scope: 'read',
  summary: 'The changes of an alarm, with the user of each',
  answers: { 200: json(SCHEMAS.AlarmEvents) },
  problems: ['bad_parameter', 'not_found', 'unavailable'],
};

const ACT: Operation['problems'] = [
  'bad_parameter',
  'malformed',
  'not_found',
  'too_large',
  'unknown_format',
  'unavailable',
];

export const acknowledgeAlarm: Operation = {
  id: 'acknowledgeAlarm',
  tag: 'alarms',
  scope: 'admin',
  summary: 'Notes who takes care of an alarm',
  description: 'A second acknowledgement replaces the first. Both stay among the events.',
  body: json(SCHEMAS.Acknowledgement),
  answers: { 200: json(SCHEMAS.Alarm) },
  problems: ACT,
};

export const shelveAlarm: Operation = {
  id: 'shelveAlarm',
  tag: 'alarms',
  scope: 'admin',
  summary: 'Stops the deliveries of an alarm for a while',
  description:
    'A change of the alarm is delivered when the shelving ends. An `until` in the past ends it now. A second shelving replaces the first.',
  body: json(SCHEMAS.Shelving),
  answers: { 200: json(SCHEMAS.Alarm) },
  problems: [...ACT, 'bad_timestamp'],
};

export const listDeliveries: Operation = {
  id: 'listAlarmDeliveries',
  tag: 'alarms',
  scope: 'admin',
  summary: 'Deliveries that no receiver has taken yet, and those that were given up',
  description: 'Newest first, at most 1,000. They are kept for 14 days.',
  answers: { 200: json(SCHEMAS.AlarmDeliveries) },
  problems: ['bad_parameter', 'unavailable'],
};

export const testDelivery: Operation = {
  id: 'testAlarmDelivery',
  tag: 'alarms',
  scope: 'admin',
  summary: 'Sends a test alarm to all receivers',
  description: 'Once, without repetition. `items` is empty without a receiver in the settings.',
  answers: { 200: json(SCHEMAS.AlarmTest) },
  problems: ['bad_parameter'],
};

export const routes: Array<Route<AlarmDeps>> = [
  { method: 'get', path: '/api/v1/alarms', operation: listAlarms, handler: getAlarms },
  {
    method: 'get',
    path: '/api/v1/alarms/{alarm_id}/events',
    operation: listAlarmEvents,
    handler: getAlarmEvents,
  },
  {
    method: 'post',
    path: '/api/v1/alarms/{alarm_id}/acknowledge',
    operation: acknowledgeAlarm,
    handler: postAcknowledgement,
  },
  { method: 'post', path: '/api/v1/alarms/{alarm_id}/shelve', operation: shelveAlarm, handler: postShelving },
  { method: 'get', path: '/api/v1/alarm-deliveries', operation: listDeliveries, handler: getDeliveries },
  {
    method: 'post',
    path: '/api/v1/alarm-deliveries/test',
    operation: testDelivery,
    handler: postDeliveryTest,
  },
];
