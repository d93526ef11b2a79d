import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { forEachConcurrently } from '../../../common/concurrency.ts';
import { MillraceError } from '../../../common/errors.ts';
import { formatTime } from '../../../common/times.ts';
import { Latencies as Histogram } from '../../../simulator/meter.ts';
import type { Line } from '../environment/pipeline.ts';
import type { Latencies } from '../load/open-loop.ts';
import { deviceName } from '../load/payloads.ts';
import { loadOf } from '../load/shapes.ts';
import { startObserving } from '../measure/machine.ts';
import { measureRate, type Rate } from '../measure/rate.ts';
import { alternate, medianOf, type Round } from '../measure/rounds.ts';
import { figure, stealOf } from '../report/table.ts';
import type { Part } from './index.ts';

const LOAD = '10x4';

/**
 * As in the parts on latency and reading, the load has 1,000 devices. With 10,000 devices, messages at half of the highest rate share so
 * few requests that both cores are busy.
 */
const USUAL_LOAD = '4x10';
const SHARE = 0.5;

/** `rules`: each for one device; `probes`: sensors whose alarms are timed */
type Sizes = { devices: number; rules: number; probes: number };

const SIZES: Sizes = { devices: 10_000, rules: 10_000, probes: 200 };

/** No value of a load reaches it. So the measured rules never fire, like nearly all rules in practice. */
const QUIET_LIMIT = 1000;

/** Sensors with timed alarms. Their values breach the limit and clear it in turn. */
const PROBE = { device: 'probe', limit: 50, high: 100, low: 0 };

/** The samples go to the probes in turn. */
const EVERY_MS = 50;

/** A run with probes is longer, because a p99 needs many alarms. */
const LONGER = 8;

/** One by one, 10,000 rules take more than two minutes. */
const RULES_AT_ONCE = 16;

const LOOK_MS = 250;

/** Ingest reads the rules once a minute. */
const KNOWN_MS = 120_000;

const ARRIVES_MS = 30_000;

/**
 * Measures how much 10,000 alarm rules cost ingest, and the time from a commit to the arrival of its report, at half of the
 * highest rate of the usual load.
 */
export const createAlarmsPart = ({ devices, rules, probes }: Sizes): Part<Result> => ({
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
        names: ['none', 'rules'] as Array<keyof typeof lines>,
        rounds: flags.rounds,
        measure: (name) => measureRate(lines[name], shape, timing),
        onStatus: status,
      });
      status(`the highest rate, load ${USUAL_LOAD}`);
      const usual = loadOf(USUAL_LOAD);
      const half = Math.max(1, (await measureRate(lines.rules, usual, timing)).rate * SHARE);
      status('alarms at half of that');
      const observed = await startObserving({ ...lines.rules.pids, database: environment.database });
      const end = await lines.rules.hold(usual, half);
      const { reports, sent } = await probe(lines.rules, receiver, { probes, forMs: flags.runMs * LONGER });
      await end(sent);
      const { steal } = await observed();
      return { rounds, half, reports, steal };
    } finally {
      // These lines are closed, because their processes would take memory from later parts.
      for (const name of ['no-rules', 'rules']) await environment.close(name);
      await receiver.stop();
    }
  },

  tables: ({ rounds, half, reports, steal }) => [
    {
      head: ['', 'thousand samples/s', 'ingest µs', 'rate, against none', 'steal'],
      rows: (['none', 'rules'] as const).map((name) => [
        name === 'none' ? 'no rules' : `${rules} rules`,
        figure(medianOf(rounds, (results) => results[name].rate / 1000)),
        figure(medianOf(rounds, (results) => Number(results[name].cpu['ingest']))),
        figure(medianOf(rounds, (results) => results[name].rate / results.none.rate)),
        stealOf(rounds),
      ]),
    },
    {
      head: [
        `at ${figure(half / 1000)} thousand samples/s, load ${USUAL_LOAD}`,
        'p50 ms',
        'p99 ms',
        'count',
        'steal',
      ],
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

async function startReceiver() {
  const arrivals: Map<string, number> = new Map();
  const server = createServer((req, res) => {
    const at = performance.now();
    json(req).then(
      (body) => {
        res.writeHead(204).end();
        const { alarm, event } = body as { alarm: { sensor: string; opened_at: string }; event: string };
        // A report may arrive twice. The first arrival counts.
        const key = `${alarm.sensor} ${alarm.opened_at} ${event}`;
        if (!arrivals.has(key)) arrivals.set(key, at);
      },
      // At its end, the part closes a connection that still sends a repeated report.
      () => res.destroy(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
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
 * The rule of the probes is first. A new rule is a lightweight transaction on the single partition of all rules. Too many concurrent
 * transactions on one partition time out.
 * @throws {MillraceError} `failed`: ingest does not know the rules within the time limit
 */
async function createRules(line: Line, count: number) {
  await forEachConcurrently(RULES_AT_ONCE, Array(count).keys(), (index) =>
    post(line, '/alarm-rules', {
      name: `rule-${index}`,
      scope: { device: index === 0 ? PROBE.device : deviceName(index) },
      condition: { kind: 'above', limit: index === 0 ? PROBE.limit : QUIET_LIMIT },
      severity: 'warning',
    }),
  );
  const deadline = performance.now() + KNOWN_MS;
  while ((await line.metrics())('iot_alarm_rules') < count) {
    if (performance.now() > deadline)
      throw new MillraceError('failed', `Ingest knows too few rules after ${KNOWN_MS / 1000} s.`);
    await sleep(LOOK_MS);
  }
}

/** @returns `sent`: number of samples @throws {MillraceError} `failed`: a report did not arrive */
async function probe(
  line: Line,
  receiver: Awaited<ReturnType<typeof startReceiver>>,
  { probes, forMs }: { probes: number; forMs: number },
): Promise<{ reports: Latencies; sent: number }> {
  /** When the commit of each change was acknowledged, by the key of the report. */
  const committed: Map<string, number> = new Map();
  const openedAt: Map<string, string> = new Map();
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
  return { reports: latencies.read() as Latencies, sent };
}

const sensorName = (index: number) => `p${index}`;

const sampleOf = (index: number, value: number) => ({ sensor_id: sensorName(index), ts: Date.now(), value });

async function post({ api }: Line, path: string, body: unknown) {
  const response = await fetch(`${api}/api/v1${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok)
    throw new MillraceError('failed', `POST ${path} answered ${response.status}: ${await response.text()}`);
}

type Result = { rounds: Round<'none' | 'rules', Rate>[]; half: number; reports: Latencies; steal: number };
