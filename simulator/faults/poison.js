import { encodePlainJson } from '../payloads/plain-json.js';

/** @import { Series } from '../payloads/index.js' */

const YEAR_MS = 365 * 86_400_000;

/** One more than a message may hold. */
const TOO_MANY = 10_001;

/** @param {string} name @param {number} ts @param {string} value as JSON */
const record = (name, ts, value) => `{"sensor_id":${JSON.stringify(name)},"ts":${ts},"value":${value}}`;

/**
 * Messages of which nothing can be stored, with the code under which they end as dead letters. They name a sensor that
 * there is, at a time that there is: whatever got through would be found.
 *
 * @type {ReadonlyArray<{ code: string, make: (name: string, ts: number) => string | Buffer }>}
 */
export const POISON = [
  { code: 'malformed', make: (name, ts) => `[${record(name, ts, '1')}`.slice(0, -2) },
  { code: 'malformed', make: (name, ts) => `[${record(name, ts, 'NaN')}]` },
  { code: 'malformed', make: () => '' },
  { code: 'malformed', make: (name) => `<measurement sensor="${name}"/>` },
  { code: 'unknown_format', make: () => Buffer.from([0xff, 0xfe, 0x00, 0x80, 0xc1]) },
  { code: 'not_finite', make: (name, ts) => `[${record(name, ts, '1e999')}]` },
  { code: 'not_numeric', make: (name, ts) => `[${record(name, ts, '"38.6"')}]` },
  { code: 'not_numeric', make: (name, ts) => `[${record(name, ts, '{"celsius":38.6}')}]` },
  { code: 'bad_id', make: (_, ts) => `[${record('x'.repeat(129), ts, '1')}]` },
  { code: 'bad_id', make: (name, ts) => `[${record(`${name}\u0000`, ts, '1')}]` },
  { code: 'bad_timestamp', make: (name) => `[{"sensor_id":"${name}","ts":"yesterday","value":1}]` },
  { code: 'in_future', make: (name, ts) => `[${record(name, ts + YEAR_MS, '1')}]` },
  { code: 'too_old', make: (name, ts) => `[${record(name, ts - 50 * YEAR_MS, '1')}]` },
  {
    code: 'too_large',
    make: (name, ts) => `[${Array.from({ length: TOO_MANY }, () => record(name, ts, '1')).join(',')}]`,
  },
];

/**
 * A batch with one measurement in it that cannot be stored: all others must be.
 *
 * @param {Series[]} series of one sample at least
 * @param {string} name of the sensor
 * @param {number} ts epoch ms
 */
export const spoiled = (series, name, ts) =>
  `${encodePlainJson(series).slice(0, -1)},${record(name, ts, '"broken"')}]`;
