import { identifyDevice, identifySensor } from '../../schema/ids.ts';
import type { Random } from '../../simulator/random.ts';
import type { Bitmap, Sent } from '../../simulator/verify/ledger-parts.ts';
import { Findings } from '../../simulator/verify/report.ts';
import { SensorComparison } from '../../simulator/verify/sensor.ts';
import type { LedgerIndex } from '../cluster/kit/ledger-index.ts';
import { pagesOf } from '../support/http/pages.ts';
import type { Json } from '../support/json.ts';

/** Time limit of a request, in ms. A paused process does not answer. */
const ANSWER_MS = 15_000;

type Range = { from: number; to: number };
type Rows = { times: number[]; values: number[] };

/** `lost`: acknowledged and not there; `doubled`: there twice; `wrong`: another value, or never sent; `alarm`: missing, or not true */
export type Problem = {
  kind: 'lost' | 'doubled' | 'wrong' | 'alarm';
  where: string;
  device: string;
  sensor: string;
  ts: number;
  message: string;
};

const KINDS = {
  missing: 'lost',
  differing: 'wrong',
  unknown: 'wrong',
  disorder: 'wrong',
  latest: 'wrong',
} as const;

/** Compares what the HTTP API answers with a ledger that still grows. */
export class Reader {
  #urls;
  #random;
  /** samples that were found with their values */
  checked = 0;

  /** @param urls of the processes that run */
  constructor({ urls, random }: { urls: () => string[]; random: Random }) {
    this.#urls = urls;
    this.#random = random;
  }

  /** Asks any process. @param path below /api/v1 @throws when it does not answer in time */
  fetch = (path: string, init: RequestInit = {}): Promise<Response> => {
    const urls = this.#urls();
    const url = urls[Math.floor(this.#random.uniform() * urls.length)];
    return fetch(`${url}/api/v1${path}`, { ...init, signal: AbortSignal.timeout(ANSWER_MS) });
  };

  /** @returns without items if there is no such device or sensor @throws when there is no answer */
  get = async (path: string, init?: RequestInit): Promise<Json> => {
    const response = await this.fetch(path, init);
    const text = await response.text();
    if (response.status === 404) return { items: [], next: null };
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text.slice(0, 200)}`);
    return JSON.parse(text);
  };

  post = (path: string, body: object): Promise<Json> => {
    const headers = { 'Content-Type': 'application/json' };
    return this.get(path, { method: 'POST', headers, body: JSON.stringify(body) });
  };

  /**
   * Compares pages, series and latest values of a device with what was acknowledged before this call, and sent until its end.
   * @param range epoch ms
   * @throws when a process does not answer
   */
  async checkDevice(index: LedgerIndex, device: string, range: Range): Promise<Problem[]> {
    await index.advance();
    const before = new Map(
      [...(index.devices.get(device) ?? [])].map(([sensor, sent]) => {
        const within = windowOf(sent, range);
        return [sensor, { within, acknowledged: index.acknowledgedOf(within) }];
      }),
    );
    const answers = new Map();
    const latest = await pagesOf(this, `/latest?device=${device}&limit=1000`);
    const times = `from=${range.from}&to=${range.to}`;
    for (const sensor of before.keys()) {
      const path = `/devices/${device}/sensors/${sensor}`;
      const pages = await pagesOf(this, `${path}/measurements?${times}&order=asc&limit=1000`);
      answers.set(sensor, {
        items: pages.flat(),
        series: await this.get(`${path}/series?${times}&points=200`),
      });
    }
    await index.advance();
    const problems: Problem[] = [];
    for (const [sensor, { within, acknowledged }] of before) {
      const { items, series } = answers.get(sensor);
      const sent = index.devices.get(device)?.get(sensor) as Sent;
      const known = { device, sensor, sent: windowOf(sent, range), acknowledged };
      const rows = {
        times: items.map(({ ts }: { ts: string }) => Date.parse(ts)),
        values: items.map(({ value }: { value: number }) => value),
      };
      problems.push(...this.#compare('pages', known, rows, range), ...doublesOf(known, rows));
      problems.push(...seriesProblems(known, series));
      problems.push(...latestProblems({ ...known, sent, within }, latest.flat()));
    }
    return problems.map((problem) => withLife(index, problem));
  }

  /** Compares samples of any source with a ledger. @param rowsOf the samples of a sensor */
  compareAll(where: string, index: LedgerIndex, rowsOf: (device: string, sensor: string) => Rows): Problem[] {
    const range = { from: 0, to: Number.MAX_SAFE_INTEGER };
    return [...index.devices].flatMap(([device, sensors]) =>
      [...sensors].flatMap(([sensor, sent]) => {
        const known = { device, sensor, sent, acknowledged: index.acknowledgedOf(sent) };
        const problems = this.#compare(where, known, rowsOf(device, sensor), range);
        return problems.map((problem) => withLife(index, problem));
      }),
    );
  }

  #compare(
    where: string,
    { device, sensor, sent, acknowledged }: Known,
    rows: Rows,
    range: Range,
  ): Problem[] {
    const findings = new Findings();
    // JSON has no -0.
    const values = sent.values.map((value) => value + 0);
    const comparison = new SensorComparison({
      device,
      sensor,
      sent: { ...sent, values },
      acknowledged,
      range,
      findings,
    });
    comparison.addHour(Number.POSITIVE_INFINITY, [rows]);
    const problems = Object.entries(findings.found).flatMap(([kind, { first }]) =>
      first.map((finding) => ({
        ...finding,
        kind: KINDS[kind as keyof typeof KINDS],
        where,
        ts: Number(finding.ts),
      })),
    );
    if (problems.length === 0) this.checked += comparison.counts.acknowledged;
    return problems;
  }
}

const withLife = (index: LedgerIndex, { device, sensor, ts, message, ...problem }: Problem): Problem => {
  const life = index.lifeOf(device, sensor, ts);
  return { ...problem, device, sensor, ts, message: `${message}, ${life}` };
};

type Known = { device: string; sensor: string; sent: Sent; acknowledged: Bitmap };

function windowOf({ times, values, messages }: Sent, { from, to }: Range): Sent {
  const within = [...times.keys()].filter((i) => Number(times[i]) >= from && Number(times[i]) < to);
  const pick = (numbers: number[]) => within.map((i) => Number(numbers[i]));
  return { times: pick(times), values: pick(values), messages: pick(messages) };
}

const isKept = ({ sent, acknowledged }: Known, index: number) =>
  acknowledged.has(Number(sent.messages[index]));

/** Pages are in the order of time, so a sample that is listed twice, or a page that goes back, is found here. */
function doublesOf({ device, sensor }: Known, { times }: Rows): Problem[] {
  const at = times.findIndex((ts, index) => index > 0 && ts <= Number(times[index - 1]));
  if (at === -1) return [];
  const message = `comes after ${times[at - 1]}`;
  return [{ kind: 'doubled', where: 'pages', device, sensor, ts: Number(times[at]), message }];
}

/** Each bin counts at least what was acknowledged, and at most what was sent. */
function seriesProblems(known: Known, series: Json): Problem[] {
  const { device, sensor, sent } = known;
  if (!series.points) return [];
  const width = series.step_ms;
  const bins: Map<number, { acknowledged: Set<number>; all: Set<number>; values: Set<number> }> = new Map();
  for (const [index, ts] of sent.times.entries()) {
    const begin = Math.floor(ts / width) * width;
    const bin = bins.get(begin) ?? { acknowledged: new Set(), all: new Set(), values: new Set() };
    bins.set(begin, bin);
    bin.all.add(ts);
    bin.values.add(Number(sent.values[index]) + 0);
    if (isKept(known, index)) bin.acknowledged.add(ts);
  }
  const problems: Problem[] = [];
  const points = new Map(series.points.map((point: Json) => [Date.parse(point.ts), point]));
  for (const ts of points.keys()) if (!bins.has(ts as number)) bins.set(ts as number, NOTHING);
  for (const [ts, { acknowledged, all, values }] of bins) {
    const { count, min, max } = (points.get(ts) ?? { count: 0 }) as Json;
    const add = (kind: Problem['kind'], message: string) =>
      problems.push({ kind, where: 'series', device, sensor, ts, message });
    if (count < acknowledged.size) add('lost', `counts ${count} of ${acknowledged.size} samples`);
    if (count > all.size) add('doubled', `counts ${count}, and ${all.size} were sent`);
    if (count > 0 && !(values.has(min) && values.has(max))) add('wrong', `${min} to ${max} was not sent`);
  }
  return problems;
}

const NOTHING = { acknowledged: new Set<number>(), all: new Set<number>(), values: new Set<number>() };

/** The latest value was sent, and is not older than any acknowledged one. @param known `within`: what was sent before the question */
function latestProblems(known: Known & { within: Sent }, items: Json[]): Problem[] {
  const { device, sensor, sent, within } = known;
  const kept = within.times.filter((_, index) => isKept({ ...known, sent: within }, index));
  if (kept.length === 0) return [];
  const newest = kept.reduce((a, b) => Math.max(a, b));
  const id = identifySensor(String(identifyDevice(device)?.id), sensor)?.id;
  const item = items.find(({ sensor_id }) => sensor_id === id);
  const ts = item?.ts ? Date.parse(item.ts) : 0;
  const problem = { where: 'latest', device, sensor };
  if (ts < newest) return [{ ...problem, kind: 'lost', ts: newest, message: `latest is of ${ts}` }];
  const isSent = sent.times.some((time, i) => time === ts && Number(sent.values[i]) + 0 === item.value);
  return isSent ? [] : [{ ...problem, kind: 'wrong', ts, message: `${item.value} was not sent` }];
}
