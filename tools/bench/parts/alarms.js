import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../../common/errors.js';
import { formatTime } from '../../../common/times.js';
import { Latencies as Histogram } from '../../../simulator/meter.js';
import { deviceName } from '../load/payloads.js';
import { loadOf } from '../load/shapes.js';
import { startObserving } from '../measure/machine.js';
import { measureRate } from '../measure/rate.js';
import { alternate, median, medianOf } from '../measure/rounds.js';
import { figure, stealOf } from '../report/table.js';

/** @import { Line } from '../environment/pipeline.js' */
/** @import { Latencies } from '../load/open-loop.js' */
/** @import { Rate } from '../measure/rate.js' */
/** @import { Round } from '../measure/rounds.js' */
/** @import { Part } from './index.js' */

const LOAD = '10x4';
const SHARE = 0.5;

/** @typedef {{ devices: number, rules: number, probes: number }} Sizes `rules`: each device has one; `probes`: sensors whose alarms are timed */

/** @type {Sizes} */
const SIZES = { devices: 10_000, rules: 10_000, probes: 200 };

/** A limit that no value of a load reaches. The bench measures the rules of quiet sensors, because nearly all are quiet. */
const QUIET_LIMIT = 1000;

/** Values of the probes: they breach this limit and clear it in turn. */
const PROBE = { device: 'probe', limit: 50, high: 100, low: 0 };

/** Pause between two samples of probes, in ms. */
const EVERY_MS = 50;

/** Length of a run with probes, in runs of a comparison: a p99 needs many alarms. */
const LONGER = 8;

const LOOK_MS = 250;

/** Ingest must know all rules within this time, in ms: it reads them again once a minute. */
const KNOWN_MS = 120_000;

/** The last report has to arrive within this time, in ms. */
const ARRIVES_MS = 30_000;

/**
 * Measures what 10,000 alarm rules cost ingest, and the time from a commit to its report at the receiver, at half of the highest rate.
 *
 * @param {Sizes} sizes
 * @returns {Part<Result>}
 */
export const createAlarmsPart = ({ devices, rules, probes }) => ({
  name: 'alarms',
  title: `Alarms: ${rules} rules over ${devices * 10} sensors, load ${LOAD}`,

  async run({ environment, flags, status }) {
    const shape = loadOf(LOAD, devices);
    const receiver = await startReceiver();
    try {
      const lines = {
        none: await environment.pipeline('no-rules'),
        rules: await environment.pipeline('rules', undefined, { more: { ALARM_WEBHOOK_URL: receiver.url } }),
      };
      const timing = { database: environment.database, warmMs: flags.warmMs, forMs: flags.runMs };
      for (const line of Object.values(lines)) {
        status(`registering ${devices * 10} sensors`);
        await measureRate(line, shape, { ...timing, forMs: 100 });
      }
      const all = Array.from({ length: probes }, (_, index) => sampleOf(index, PROBE.low));
      await post(lines.rules, `/measurements?device=${PROBE.device}`, all);
      status(`creating ${rules} rules`);
      await createRules(lines.rules, rules);
      const rounds = await alternate({
        names: /** @type {Array<keyof typeof lines>} */ (['none', 'rules']),
        rounds: flags.rounds,
        measure: (name) => measureRate(lines[name], shape, timing),
        onStatus: status,
      });
      const half = Math.max(1, median(rounds.map(({ results }) => results.rules.rate)) * SHARE);
      status('alarms at half of that');
      const observed = await startObserving({ ...lines.rules.pids, database: environment.database });
      const end = await lines.rules.hold(shape, half);
      const { reports, sent } = await probe(lines.rules, receiver, { probes, forMs: flags.runMs * LONGER });
      await end(sent);
      const { steal } = await observed();
      return { rounds, half, reports, steal };
    } finally {
      // The processes of these lines would take memory from the parts that follow.
      for (const name of ['no-rules', 'rules']) await environment.close(name);
      await receiver.stop();
    }
  },

  tables: ({ rounds, half, reports, steal }) => [
    {
      head: ['', 'thousand samples/s', 'ingest µs', 'rate, against none', 'steal'],
      rows: /** @type {const} */ (['none', 'rules']).map((name) => [
        name === 'none' ? 'no rules' : `${rules} rules`,
        figure(medianOf(rounds, (results) => results[name].rate / 1000)),
        figure(medianOf(rounds, (results) => Number(results[name].cpu['ingest']))),
        figure(medianOf(rounds, (results) => results[name].rate / results.none.rate)),
        stealOf(rounds),
      ]),
    },
    {
      head: [`at ${figure(half / 1000)} thousand samples/s`, 'p50 ms', 'p99 ms', 'count', 'steal'],
      rows: [
        [
          'from the commit of a sample to the webhook',
          figure(reports.p50),
          figure(reports.p99),
          figure(reports.count),
          figure(steal),
        ],
      ],
    },
  ],
});

export const alarms = createAlarmsPart(SIZES);

/** Receives the reports of alarms. */
async function startReceiver() {
  /** @type {Map<string, number>} */
  const arrivals = new Map();
  const server = createServer((req, res) => {
    const at = performance.now();
    json(req).then(
      (body) => {
        res.writeHead(204).end();
        const { alarm, event } = /** @type {any} */ (body);
        // The first arrival counts: a report may come twice.
        const key = `${alarm.sensor} ${alarm.opened_at} ${event}`;
        if (!arrivals.has(key)) arrivals.set(key, at);
      },
      // The end of the part cuts a report off that comes again.
      () => res.destroy(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}/`,
    arrivals,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/**
 * Creates rules, the first of them for the probes, one after the other: a new rule is a lightweight transaction on the one partition of all
 * rules, and concurrent ones on a partition time out.
 *
 * @param {Line} line
 * @param {number} count
 * @throws {MillraceError} `failed`: ingest does not know them in time
 */
async function createRules(line, count) {
  for (let index = 0; index < count; index++) {
    await post(line, '/alarm-rules', {
      name: `rule-${index}`,
      scope: { device: index === 0 ? PROBE.device : deviceName(index) },
      condition: { kind: 'above', limit: index === 0 ? PROBE.limit : QUIET_LIMIT },
      severity: 'warning',
    });
  }
  const deadline = performance.now() + KNOWN_MS;
  while ((await line.metrics())('iot_alarm_rules') < count) {
    if (performance.now() > deadline)
      throw new MillraceError('failed', `Ingest knows too few rules after ${KNOWN_MS / 1000} s.`);
    await sleep(LOOK_MS);
  }
}

/**
 * Sends samples that breach the limit of a sensor and clear it in turn, and times the reports.
 *
 * @param {Line} line
 * @param {Awaited<ReturnType<typeof startReceiver>>} receiver
 * @param {{ probes: number, forMs: number }} options
 * @returns {Promise<{ reports: Latencies, sent: number }>} `sent`: samples
 * @throws {MillraceError} `failed`: a report did not arrive
 */
async function probe(line, receiver, { probes, forMs }) {
  /** The time of the acknowledgement of each change, by the key of its report. @type {Map<string, number>} */
  const committed = new Map();
  /** @type {Map<string, string>} */
  const openedAt = new Map();
  const end = performance.now() + forMs;
  let sent = 0;
  for (; performance.now() < end; sent++) {
    const sensor = sensorName(sent % probes);
    const opened = openedAt.get(sensor);
    const sample = sampleOf(sent % probes, opened === undefined ? PROBE.high : PROBE.low);
    await post(line, `/measurements?device=${PROBE.device}`, [sample]);
    const startedAt = opened ?? formatTime(sample.ts);
    committed.set(`${sensor} ${startedAt} ${opened === undefined ? 'opened' : 'cleared'}`, performance.now());
    if (opened === undefined) openedAt.set(sensor, startedAt);
    else openedAt.delete(sensor);
    await sleep(EVERY_MS);
  }
  const missing = () => [...committed.keys()].filter((key) => !receiver.arrivals.has(key));
  for (const deadline = performance.now() + ARRIVES_MS; missing().length > 0; await sleep(LOOK_MS)) {
    if (performance.now() > deadline)
      throw new MillraceError(
        'failed',
        `${missing().length} of ${committed.size} reports of alarms did not arrive.`,
      );
  }
  const latencies = new Histogram();
  for (const [key, at] of committed) latencies.record(Number(receiver.arrivals.get(key)) - at);
  return { reports: /** @type {Latencies} */ (latencies.read()), sent };
}

/** @param {number} index */
const sensorName = (index) => `p${index}`;

/** @param {number} index of a probe @param {number} value */
const sampleOf = (index, value) => ({ sensor_id: sensorName(index), ts: Date.now(), value });

/** @param {Line} line @param {string} path @param {unknown} body */
async function post({ api }, path, body) {
  const response = await fetch(`${api}/api/v1${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok)
    throw new MillraceError('failed', `POST ${path} answered ${response.status}: ${await response.text()}`);
}

/** @typedef {{ rounds: Round<'none' | 'rules', Rate>[], half: number, reports: Latencies, steal: number }} Result */
