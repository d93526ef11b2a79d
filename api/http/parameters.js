import { z } from 'zod';
import { MillraceError } from '../../common/errors.js';
import { parseTime } from '../../common/times.js';
import { identifyDevice, identifySensor, isName } from '../../schema/ids.js';
import { DAY_MS } from '../../schema/rules.js';

/** @import { Request } from 'express' */
/** @import { ZodObject, ZodRawShape, core } from 'zod' */
/** @import { Identity } from '../../schema/ids.js' */
/** @import { RouteParts } from './api.js' */

/** A whole number in digits alone: `Number` would also take "1e2", " 5" and "0x10". */
const digits = (/** @type {number} */ min, /** @type {number} */ max) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((number) => number >= min && number <= max, `a whole number from ${min} to ${max}`)
    .meta({ means: { type: 'integer', minimum: min, maximum: max } });

const time = z.string().transform((text, context) => {
  const ms = parseTime(text);
  if (ms !== null && Math.abs(ms) <= 8.64e15) return ms;
  context.addIssue({ code: 'custom', message: BAD_TIME });
  return z.NEVER;
});

// Nearly always the plus sign of an offset, which in an address stands for a space.
const BAD_TIME = 'ISO 8601 or integer milliseconds; the plus of an offset is written %2B';

const name = z.string().refine(isName, 'a text of 1 to 128 bytes without control characters');

/** What a time is to those who write one. */
const TIME = {
  means: {
    oneOf: [
      { type: 'string', format: 'date-time' },
      { type: 'integer', minimum: -8.64e15, maximum: 8.64e15 },
    ],
  },
  example: '2026-11-21T00:00:00Z',
};

/**
 * The building blocks of query strings. What a field says of itself in the documents is in its `meta`: a `description`,
 * an `example`, and by `means` what the text stands for.
 */
export const fields = {
  limit: digits(1, 1000).default(100).meta({ description: 'Items of one page at most.' }),
  cursor: z.string().optional().meta({ description: 'The `next` of the page before.' }),
  from: time
    .optional()
    .meta({ ...TIME, description: 'Not before this instant; unless given, from the start of retention.' }),
  /** Not now: a device's clock may be ahead of ours. */
  to: time.optional().meta({ ...TIME, description: 'Before this instant; unless given, up to the newest.' }),
  points: digits(1, 2000).default(500).meta({ description: 'Points of the answer at most.' }),
  name: name.optional(),
  /** Told apart by `parseDevice`, which has a code of its own for what is neither id nor name. */
  id: z.string().optional(),
};

/**
 * Reads a query string; what is unknown, repeated or out of range is refused by name, all at once.
 *
 * @template {ZodRawShape} S
 * @param {Request} req
 * @param {S} shape
 * @returns {z.infer<ZodObject<S>>}
 * @throws {MillraceError} `bad_parameter`
 */
export function readQuery(req, shape) {
  checkEncoding(req.url);
  const result = z.strictObject(shape).safeParse(req.query);
  if (result.success) return result.data;
  const parameters = result.error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ name: key, reason: 'not known here' }))
      : [{ name: String(issue.path[0] ?? ''), reason: reasonOf(issue) }],
  );
  const detail = parameters.map((one) => `${one.name}: ${one.reason}`).join('; ');
  throw new MillraceError('bad_parameter', detail, { details: { parameters } });
}

/** What is not valid percent-encoding would be read as something else. @param {string} url */
function checkEncoding(url) {
  try {
    decodeURIComponent(url.slice(url.indexOf('?') + 1));
  } catch (error) {
    throw new MillraceError('bad_parameter', 'The address is not valid percent-encoding of UTF-8.', {
      cause: error,
    });
  }
}

/** @param {core.$ZodIssue} issue */
const reasonOf = (issue) => (issue.code === 'invalid_type' ? 'given once, as a text' : issue.message);

/** @param {string} text from the path or a filter @returns {Identity} @throws {MillraceError} `bad_id` */
export function parseDevice(text) {
  const device = identifyDevice(text);
  if (!device) throw new MillraceError('bad_id', BAD_ID);
  return device;
}

/** @param {string} deviceId @param {string} text @returns {Identity} @throws {MillraceError} `bad_id` */
export function parseSensor(deviceId, text) {
  const sensor = identifySensor(deviceId, text);
  if (!sensor) throw new MillraceError('bad_id', BAD_ID);
  return sensor;
}

const BAD_ID =
  'Devices and sensors are lower-case UUIDs, or names of 1 to 128 bytes of UTF-8 without control characters.';

/**
 * The range of a request, cut to what may be shown: nothing before retention, to the millisecond, and nothing that a clock
 * far ahead has measured.
 *
 * @param {{ from?: number | undefined, to?: number | undefined }} given epoch ms
 * @param {Pick<RouteParts, 'clock' | 'historyDays' | 'maxClockSkewMs'>} parts
 * @returns {{ from: number, to: number }} epoch ms, half-open; empty where `from` is not before `to`
 * @throws {MillraceError} `bad_range`
 */
export function cutRange({ from, to }, { clock, historyDays, maxClockSkewMs }) {
  if (from !== undefined && to !== undefined && from > to) {
    throw new MillraceError('bad_range', 'from is after to; a range is half-open, [from, to).');
  }
  const now = clock();
  return {
    from: Math.max(from ?? 0, now - historyDays * DAY_MS),
    to: Math.min(to ?? Number.POSITIVE_INFINITY, now + maxClockSkewMs),
  };
}
