import { get, type IncomingMessage } from 'node:http';
import { performance } from 'node:perf_hooks';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from '@jest/globals';
import { forEachConcurrently } from '../../../common/concurrency.ts';
import { hourStatisticsOf } from '../../../schema/packed/statistics.ts';
import { closingOf, DAY_MS, dayOf, HOUR_MS } from '../../../schema/rules.ts';
import { type ApiProcess, startApi } from '../../support/processes/api-process.ts';
import { useHistorySystem } from '../../support/system/history.ts';

const DAYS = 31;
const DEVICES = Number(process.env['QUERY_DEVICES'] ?? 100);
const SENSORS = 10;
const HOURS = DAYS * 24;
/** The set-up mostly writes statistics. */
const SETUP_MS = 600_000;

/** Days at the end whose statistics the packer has not copied yet. */
const UNSETTLED_DAYS = 2;
const BEGIN = dayOf(Date.now() - 60 * DAY_MS);
const END = BEGIN + DAYS * DAY_MS;

const world = useHistorySystem(BEGIN);

/** A separate process, as in production: it shares no thread with this test, and checks no contract. */
let server: ApiProcess | undefined;
afterAll(() => server?.kill());

/** `fetch` of tests checks each answer against the document, which takes longer than the answer. */
async function bodyOf(url: string): Promise<string> {
  const response = await (new Promise((resolve, reject) =>
    get(url, resolve).once('error', reject),
  ) as Promise<IncomingMessage>);
  expect(response.statusCode).toBe(200);
  return text(response);
}

const nameOf = (device: number) => `press-${String(device).padStart(3, '0')}`;

/** The samples of one hour of a sensor: four. @param hour index */
const samplesOf = (seed: number, hour: number) =>
  [0, 1, 2, 3].map((quarter) => Math.round(1000 * Math.sin(seed + hour / 7 + quarter)) / 10);

test(
  `GET /query: ${DEVICES * SENSORS} sensors of a site, hourly for a month: the answer equals a computation from all samples`,
  async () => {
    const names = Array.from({ length: SENSORS }, (_, index) => `s${index}`);
    for (let device = 0; device < DEVICES; device++) {
      const sensors = names.map((sensor_id) => ({ sensor_id, type: 'pressure', unit: 'bar' }));
      await world.device.birth(nameOf(device), { site: 'Plant', sensors });
    }
    const all = Array.from({ length: DEVICES * SENSORS }, (_, seed) => ({
      seed,
      key: world.history.sensorOf(nameOf(Math.floor(seed / SENSORS)), `s${seed % SENSORS}`),
    }));
    const { store } = world.history;
    await forEachConcurrently(32, all, async ({ seed, key }) => {
      const hours = Array.from({ length: HOURS }, (_, index) => {
        const hour = BEGIN + index * HOUR_MS;
        return { hour, statistics: hourStatisticsOf(samplesOf(seed, index)), readFrom: closingOf(hour) };
      });
      // The packer leaves the rows of settled days in both tables. Readers take the copies.
      const settled = hours.slice(0, -24 * UNSETTLED_DAYS);
      for (let at = 0; at < settled.length; at += 24) {
        const day = settled.slice(at, at + 24);
        await store.write.history.writeDay(key, Number(day[0]?.hour), day, END);
      }
      for (const { hour, statistics, readFrom } of hours.slice(settled.length))
        await store.write.history.writeStatistics(key, hour, statistics, readFrom);
    });
    await world.history.packedUntil(END);
    world.clock.now = END + DAY_MS;
    for (let device = 0; device < DEVICES; device++) {
      const newest = names.map((sensor_id) => ({ sensor_id, ts: END, value: device }));
      await world.device.measure(nameOf(device), newest);
    }

    const query = `/api/v1/query?site=Plant&from=${BEGIN}&to=${END}&step=1h&aggregate=avg,min,max`;
    server = await startApi({
      ROLE: 'http',
      CURSOR_SECRET: 'only of this test',
      ...world.system.databaseSettings,
      MQTT_URL: world.system.mqttUrl,
      HTTP_PORT: '0',
    });
    const runs = [];
    let body = '';
    for (let run = 0; run < 5; run++) {
      const began = performance.now();
      body = await bodyOf(`${server.httpUrl}${query}`);
      runs.push(`${Math.round(performance.now() - began)} ms`);
    }
    const answer = JSON.parse(body);
    // This request goes through the check of the contract.
    expect(await (await fetch(`${world.system.httpUrl}${query}`)).text()).toBe(body);
    // The documents quote these figures.
    process.stdout.write(`${DEVICES * SENSORS} sensors x ${HOURS} hours: ${runs.join(', ')}\n`);

    expect(answer.times).toHaveLength(HOURS);
    expect(answer.series).toHaveLength(DEVICES * SENSORS);
    const seeds = new Map(
      all.map(({ seed }) => [`${nameOf(Math.floor(seed / SENSORS))}/s${seed % SENSORS}`, seed]),
    );
    for (const { device, sensor, avg, min, max } of answer.series) {
      const seed = Number(seeds.get(`${device}/${sensor}`));
      const wrong = answer.times.findIndex((_: string, hour: number) => {
        const values = samplesOf(seed, hour);
        const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
        return (
          min[hour] !== Math.min(...values) ||
          max[hour] !== Math.max(...values) ||
          Math.abs(avg[hour] - mean) > 1e-9
        );
      });
      expect(wrong).toBe(-1);
    }
  },
  SETUP_MS,
);
