import type { Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { MillraceError } from '../../../../common/errors.ts';
import { formatTime } from '../../../../common/times.ts';
import { DAY_MS } from '../../../../schema/rules.ts';
import type { Operation } from '../../../http/contract/operation.ts';
import {
  abortOnClose,
  audit,
  cutRange,
  fields,
  json,
  MAX_CONCURRENT,
  parseDevice,
  parseSensor,
  readJsonText,
  readQuery,
  timeOf,
} from '../../../http/index.ts';
import type { Route } from '../../../http/route.ts';
import { type Backtest, MAX_EPISODES, MAX_SENSORS } from '../backtest.ts';
import { type Definition, newestOf, type Rule, toRule, type Wanted, WantedRule } from '../rules/rule.ts';
import { SCHEMAS } from '../schemas.ts';
import type { AlarmDeps } from './alarms.ts';

/** In bytes. A rule with the longest texts, all characters escaped, fits. */
const MAX_BYTES = 16 * 1024;

const DEFAULT_TEST_MS = 30 * DAY_MS;

const RULE_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const NOT_FOUND = 'There is no such rule.';

export const getRules =
  ({ alarms }: AlarmDeps): RequestHandler =>
  async (req, res) => {
    readQuery(req, {});
    await alarms.rules.refresh();
    res.json({ items: alarms.rules.list().map(ruleItem).sort(byName) });
  };

export const postRule =
  ({ alarms, context: { clock, logger } }: AlarmDeps): RequestHandler =>
  async (req, res) => {
    readQuery(req, {});
    const { since, ...definition } = await readRule(req, res);
    const now = clock();
    const from = since === undefined ? now : timeOf(since);
    const rule = await alarms.rules.add(definition, Math.min(from, now));
    audit(logger, res, 'an alarm rule was added', rule.id);
    // If many evaluations wait, the evaluation of the past takes long. So the answer does not wait for it.
    if (from < now)
      void alarms
        .evaluatePast(rule.id)
        .catch((error) =>
          logger.warn({ reason: String(error) }, 'the past of an alarm rule could not be evaluated'),
        );
    res.status(201).json(ruleItem(rule));
  };

export const putRule =
  ({ alarms, context: { clock, logger } }: AlarmDeps): RequestHandler =>
  async (req, res) => {
    readQuery(req, {});
    const { since: _, ...definition } = await readRule(req, res);
    const rule = await alarms.rules.replace(ruleId(req), definition, clock());
    if (!rule) throw new MillraceError('not_found', NOT_FOUND);
    audit(logger, res, 'an alarm rule was changed', rule.id);
    res.json(ruleItem(rule));
  };

/** `DELETE /alarm-rules/{rule_id}`: the open alarms of the rule end. */
export const deleteRule =
  ({ alarms, context: { clock, logger } }: AlarmDeps): RequestHandler =>
  async (req, res) => {
    readQuery(req, {});
    const rule = await alarms.rules.replace(ruleId(req), null, clock());
    if (!rule) throw new MillraceError('not_found', NOT_FOUND);
    audit(logger, res, 'an alarm rule was removed', rule.id);
    res.status(204).end();
  };

export const TEST = {
  from: fields.from.meta({
    description: 'Start of the range, included. Without it the range is 30 days long.',
  }),
  to: fields.to.meta({ description: 'End of the range, not included. Without it the range ends now.' }),
  device: fields.id.meta({ description: 'Only this device: a UUID in lower case, or a name.' }),
  sensor: fields.id.meta({ description: 'Only this sensor of `device`.' }),
};

export const postTest =
  (deps: AlarmDeps): RequestHandler =>
  async (req, res) => {
    const { from, to, device, sensor } = readQuery(req, TEST);
    const { since: _, ...definition } = await readRule(req, res);
    const now = deps.context.clock();
    const range = cutRange({ from: from ?? now - DEFAULT_TEST_MS, to: to ?? now }, deps.context);
    if (sensor !== undefined && device === undefined)
      throw new MillraceError('bad_parameter', 'sensor: must stand with device');
    if (device !== undefined) {
      const { id } = parseDevice(device);
      if (sensor !== undefined) parseSensor(id, sensor);
      definition.scope = { device, ...(sensor !== undefined && { sensor }) };
    }
    const row = {
      ruleId: '',
      version: 1,
      since: range.from,
      definition: JSON.stringify(definition),
      removed: false,
    };
    const version = newestOf(toRule([row], Buffer.alloc(16)));
    const release = deps.http.limits.queries.acquire();
    try {
      await abortOnClose(res, async (signal) => {
        res.json(backtestItem(await deps.alarms.backtest(version, range, signal), range));
      });
    } finally {
      release();
    }
  };

function backtestItem(found: Backtest, range: { from: number; to: number }) {
  const items = found.episodes.map(({ subject, episode }) => ({
    device_id: subject.device.id,
    device: subject.device.name,
    sensor_id: subject.sensor.id,
    sensor: subject.sensor.name,
    started_at: formatTime(episode.start),
    opened_at: formatTime(episode.opened),
    cleared_at: episode.cleared === null ? null : formatTime(episode.cleared),
    peak: episode.peak,
  }));
  const lasted = found.episodes.map(({ episode }) => (episode.cleared ?? range.to) - episode.start);
  return {
    from: formatTime(range.from),
    to: formatTime(range.to),
    stored_from: found.stored && formatTime(found.stored.from),
    stored_to: found.stored && formatTime(found.stored.to),
    count: found.count,
    sensors: found.sensors,
    partial: found.isPartial,
    without_interval: found.withoutInterval,
    total_ms: lasted.reduce((sum, ms) => sum + ms, 0),
    items,
    fewer_alarms: found.fewerAlarms,
    more_alarms: found.moreAlarms,
  };
}

/** @throws `not_found` */
function ruleId(req: Request) {
  const id = String(req.params['rule_id']);
  if (!RULE_ID.test(id)) throw new MillraceError('not_found', NOT_FOUND);
  return id;
}

/** @throws `malformed` */
async function readRule(req: Request, res: Response): Promise<Wanted> {
  const text = await readJsonText(req, res, MAX_BYTES);
  try {
    return WantedRule.parse(JSON.parse(text));
  } catch (error) {
    throw new MillraceError('malformed', `The rule is not valid: ${reasonOf(error)}`, { cause: error });
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof z.ZodError)) return 'it is not JSON.';
  const [issue] = error.issues;
  return `${issue?.path.join('.') || 'the rule'}: ${issue?.message}.`;
}

function ruleItem(rule: Rule) {
  const { version, since, definition } = newestOf(rule);
  return { rule_id: rule.id, version, since: formatTime(since), ...definition };
}

const byName = (a: Definition, b: Definition) => (a.name < b.name ? -1 : Number(a.name > b.name));

const BODY_PROBLEMS: Operation['problems'] = [
  'bad_parameter',
  'malformed',
  'bad_timestamp',
  'too_large',
  'unknown_format',
  'unavailable',
];

export const listRules: Operation = {
  id: 'listAlarmRules',
  tag: 'alarms',
  scope: 'read',
  summary: 'All alarm rules, by name',
  answers: { 200: json(SCHEMAS.AlarmRules) },
  problems: ['bad_parameter', 'unavailable'],
};

export const addRule: Operation = {
  id: 'addAlarmRule',
  tag: 'alarms',
  scope: 'admin',
  summary: 'Adds an alarm rule',
  description:
    'It applies to measurements from now on, or from `since`. All processes know it within two seconds. An installation has at most 10,000 rules.',
  body: json(WantedRule),
  answers: { 201: json(SCHEMAS.AlarmRule) },
  problems: BODY_PROBLEMS,
};

export const replaceRule: Operation = {
  id: 'replaceAlarmRule',
  tag: 'alarms',
  scope: 'admin',
  summary: 'Replaces an alarm rule from now on',
  description:
    'Earlier measurements stay with the version that applied to them. Its open alarms end. `since` is ignored.',
  body: json(WantedRule),
  answers: { 200: json(SCHEMAS.AlarmRule) },
  problems: [...BODY_PROBLEMS, 'not_found'],
};

export const removeRule: Operation = {
  id: 'removeAlarmRule',
  tag: 'alarms',
  scope: 'admin',
  summary: 'Removes an alarm rule',
  description: 'Its open alarms end. They stay in the list.',
  answers: { 204: {} },
  problems: ['bad_parameter', 'not_found', 'unavailable'],
};

export const testRule: Operation = {
  id: 'testAlarmRule',
  tag: 'alarms',
  scope: 'read',
  summary: 'When a rule would have fired',
  description: `Reads history, by default that of the last 30 days, of at most ${MAX_SENSORS} sensors in the scope. \`device\` and \`sensor\` replace the scope. \`items\` has at most ${MAX_EPISODES} alarms; \`count\` has all of them. Nothing is stored. The test ends when its client disconnects. A process runs no more than ${MAX_CONCURRENT.queries} tests and queries of many sensors at once. After \`busy\`, wait for the seconds in \`Retry-After\`.`,
  query: TEST,
  body: json(WantedRule),
  answers: { 200: json(SCHEMAS.Backtest) },
  problems: [...BODY_PROBLEMS, 'bad_range', 'bad_id', 'busy'],
};

export const routes: Array<Route<AlarmDeps>> = [
  { method: 'get', path: '/api/v1/alarm-rules', operation: listRules, handler: getRules },
  { method: 'post', path: '/api/v1/alarm-rules', operation: addRule, handler: postRule },
  { method: 'post', path: '/api/v1/alarm-rules/test', operation: testRule, handler: postTest },
  { method: 'put', path: '/api/v1/alarm-rules/{rule_id}', operation: replaceRule, handler: putRule },
  { method: 'delete', path: '/api/v1/alarm-rules/{rule_id}', operation: removeRule, handler: deleteRule },
];
