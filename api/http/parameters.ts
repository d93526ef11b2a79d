import type { Request } from 'express';
import { type core, type ZodObject, type ZodRawShape, z } from 'zod';
import { parseDuration } from '../../common/durations.ts';
import { MillraceError } from '../../common/errors.ts';
import { parseTime } from '../../common/times.ts';
import {
  type Identity,
  identifyDevice,
  identifySensor,
  isName,
  type SensorIdentity,
} from '../../schema/ids.ts';
import { DAY_MS } from '../../schema/rules.ts';
import type { Context } from '../observability/index.ts';

/** Digits only: `Number` would also accept "1e2", " 5" and "0x10". */
export const digits = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((number) => number >= min && number <= max, `a whole number from ${min} to ${max}`)
    .meta({ means: { type: 'integer', minimum: min, maximum: max } });

const BAD_OFFSET = 'a whole number of minutes from -1439 to 1439';

/** Offset from UTC in minutes, less than a day. */
const utcOffset = z
  .string()
  .regex(/^-?\d{1,4}$/, BAD_OFFSET)
  .transform(Number)
  .refine((minutes) => Math.abs(minutes) < 1440, BAD_OFFSET)
  .meta({ means: { type: 'integer', minimum: -1439, maximum: 1439 } });

/** Epoch ms, or a duration before now in ms (`ago`). */
export type TimeParameter = number | { ago: number };

const AGO = /^-(\d{1,9}(?:ms|[smhdy]))$/;

/** Range of `Date`: the greatest distance from 1970, in ms. */
const MAX_TIME_MS = 8.64e15;

const time = z.string().transform((text, context) => {
  const given = parseTimeParameter(text);
  if (given !== null) return given;
  context.addIssue({ code: 'custom', message: BAD_TIME });
  return z.NEVER;
});

// The usual cause of a bad time is an unencoded plus sign in its offset. In a query string, a plus sign means a space.
const BAD_TIME = 'ISO 8601, integer milliseconds, now or -1h; write the plus of an offset as %2B';

/** Null: not a time. */
export function parseTimeParameter(text: string): TimeParameter | null {
  if (text === 'now') return { ago: 0 };
  const ago = parseDuration(AGO.exec(text)?.[1] ?? '');
  if (ago !== null) return { ago };
  const ms = parseTime(text);
  return ms !== null && Math.abs(ms) <= MAX_TIME_MS ? ms : null;
}

const atTime = (given: TimeParameter | undefined, now: number): number | undefined =>
  typeof given === 'object' ? Math.max(now - given.ago, -MAX_TIME_MS) : given;

/** Relative times count back from `now`. Returns a half-open range in epoch ms. @throws `bad_range` */
export function rangeAt(
  { from, to }: { from?: TimeParameter | undefined; to?: TimeParameter | undefined },
  now: number,
): { from: number | undefined; to: number | undefined } {
  const range = { from: atTime(from, now), to: atTime(to, now) };
  if (range.from !== undefined && range.to !== undefined && range.from > range.to) {
    throw new MillraceError('bad_range', 'from is after to; a range is half-open, [from, to).');
  }
  return range;
}

/**
 * For a time of a request body: ISO 8601, or epoch ms. A time before `min` counts as `min`. Returns epoch ms.
 * @throws `bad_timestamp` if it is not a time, or is after `max`
 */
export function timeOf(
  given: string | number,
  { min = 0, max = MAX_TIME_MS }: { min?: number; max?: number } = {},
): number {
  const ms = typeof given === 'number' ? given : parseTime(given);
  if (ms === null || ms > max) throw new MillraceError('bad_timestamp');
  return Math.max(ms, min);
}

const name = z.string().refine(isName, 'a text of 1 to 128 bytes without control characters');

/** Uses `anyOf`, because a validator that ignores formats takes every text as a date. */
const TIME = {
  means: {
    anyOf: [
      { type: 'string', format: 'date-time' },
      { type: 'integer', minimum: -MAX_TIME_MS, maximum: MAX_TIME_MS },
      { type: 'string', pattern: '^(now|-[0-9]{1,9}(ms|[smhdy]))$' },
    ],
  },
  example: '2026-11-21T00:00:00Z',
};

/**
 * `meta` has the texts of the documents: a `description` and an `example`. Its member `means` is the schema of the value that the text
 * stands for.
 */
export const fields = {
  limit: digits(1, 1000).default(100).meta({ description: 'The limit of items of one page.' }),
  cursor: z.string().optional().meta({ description: 'The member `next` of the page before.' }),
  from: time
    .optional()
    .meta({ ...TIME, description: 'Start of the range, included. Default: the start of retention.' }),
  /** No default: it is not now, because the clock of a device may be ahead. */
  to: time
    .optional()
    .meta({ ...TIME, description: 'End of the range, not included. Default: after the newest.' }),
  asof: time
    .optional()
    .meta({ ...TIME, description: 'The value at or before this instant. Default: the newest.' }),
  results: digits(1, 100).default(20).meta({ description: 'The limit of results.' }),
  points: digits(1, 2000).default(500).meta({ description: 'The limit of points of the answer.' }),
  utcOffset: utcOffset.default(0).meta({
    description: 'Minutes that a clock is ahead of UTC. Bins of a day begin at its midnight.',
  }),
  name: name.optional(),
  text: name,
  /** `parseDevice` checks the text, because a text that is neither an id nor a name has its own error code. */
  id: z.string().optional(),
};

/** One problem names all parameters that are unknown, repeated or out of range. @throws `bad_parameter` */
export function readQuery<S extends ZodRawShape>(req: Request, shape: S): z.infer<ZodObject<S>> {
  checkEncoding(req.url);
  return readParameters(req.query, z.strictObject(shape));
}

/** A parameter that was given several times is an array. @throws `bad_parameter` */
export function readParameters<T extends ZodObject>(given: Record<string, unknown>, schema: T): z.infer<T> {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const parameters = result.error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ name: key, reason: 'unknown parameter' }))
      : [{ name: String(issue.path[0] ?? ''), reason: reasonOf(issue) }],
  );
  const detail = parameters.map(({ name, reason }) => `${name}: ${reason}`).join('; ');
  throw new MillraceError('bad_parameter', detail, { details: { parameters } });
}

export const badParameter = (name: string, reason: string) =>
  new MillraceError('bad_parameter', `${name}: ${reason}`, { details: { parameters: [{ name, reason }] } });

/** The query parser would decode invalid percent-encoding wrongly. */
export function checkEncoding(url: string) {
  try {
    decodeURIComponent(url.slice(url.indexOf('?') + 1));
  } catch (error) {
    throw new MillraceError('bad_parameter', 'The address is not valid percent-encoding of UTF-8.', {
      cause: error,
    });
  }
}

const reasonOf = (issue: core.$ZodIssue) =>
  issue.code === 'invalid_type' ? 'must be given once, as a text' : issue.message;

/** `text`: id or name, from the path or a filter. @throws `bad_id` */
export function parseDevice(text: string): Identity {
  const device = identifyDevice(text);
  if (!device) throw new MillraceError('bad_id', BAD_ID);
  return device;
}

/** @throws `bad_id` */
export function parseSensor(deviceId: string, text: string): SensorIdentity {
  const sensor = identifySensor(deviceId, text);
  if (!sensor) throw new MillraceError('bad_id', BAD_ID);
  return sensor;
}

const BAD_ID =
  'Devices and sensors are lower-case UUIDs, or names of 1 to 128 bytes of UTF-8 without control characters.';

/**
 * The range starts no earlier than the retention of history, to the millisecond, unless it is unbounded. It ends no
 * later than now plus the allowed clock skew. Returns a half-open range in epoch ms, which is empty if `from` is not
 * before `to`.
 * @throws `bad_range`
 */
export function cutRange(
  given: { from?: TimeParameter | undefined; to?: TimeParameter | undefined },
  { clock, config }: Pick<Context, 'clock' | 'config'>,
  { isUnbounded = false } = {},
): { from: number; to: number } {
  const now = clock();
  const { from, to } = rangeAt(given, now);
  return {
    from: Math.max(from ?? 0, isUnbounded ? 0 : now - config.retention.historyDays * DAY_MS),
    to: Math.min(to ?? Number.POSITIVE_INFINITY, now + config.ingest.maxClockSkewMs),
  };
}
