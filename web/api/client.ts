import type { Query } from './request.ts';
import { createRequests, toQuery } from './request.ts';
import type {
  DeviceEvent,
  DeviceInfo,
  DeviceItem,
  FleetInfo,
  LatestItem,
  Measurement,
  Mqtt,
  Page,
  Readiness,
  SensorInfo,
  Series,
  UnwatchedTime,
} from './types.ts';

export const segment = (id: string): string => encodeURIComponent(id);

export const sensorPath = (device: string, sensor: string) =>
  `/devices/${segment(device)}/sensors/${segment(sensor)}`;

type Samples = { ts: number[]; value: number[] };

/**
 * The client of the API, with a method for each route that the core of the dashboard uses. Features send their own requests by
 * `requests`. Each method may throw a Problem, or an AbortError after `signal` aborts.
 */
export class Client {
  // `requestOk` is for answers without a body, because an unread body keeps its connection open.
  readonly requests: ReturnType<typeof createRequests>;
  readonly #options: { fetch: typeof globalThis.fetch; limit?: Limit };

  constructor(options: { fetch: typeof globalThis.fetch; limit?: Limit }) {
    this.requests = createRequests(options);
    this.#options = options;
  }

  /** Returns a client for a page with many charts, so that only a few of its requests run at once. */
  withLimit(limit: Limit): Client {
    return new Client({ ...this.#options, limit });
  }

  async readiness(signal?: AbortSignal): Promise<Readiness> {
    return (await this.requests.request('/readyz', signal, { base: '' })).json();
  }

  latest(query: Query, signal?: AbortSignal): Promise<Page<LatestItem>> {
    return this.requests.get('/latest', query, signal);
  }

  fleet(signal?: AbortSignal): Promise<FleetInfo> {
    return this.requests.get('/fleet', {}, signal);
  }

  devices(query: Query, signal?: AbortSignal): Promise<Page<DeviceItem>> {
    return this.requests.get('/devices', query, signal);
  }

  device(device: string, signal?: AbortSignal): Promise<DeviceInfo> {
    return this.requests.get(`/devices/${segment(device)}`, {}, signal);
  }

  events(device: string, query: Query, signal?: AbortSignal): Promise<Page<DeviceEvent>> {
    return this.requests.get(`/devices/${segment(device)}/events`, query, signal);
  }

  unwatched(query: Query, signal?: AbortSignal): Promise<UnwatchedTime> {
    return this.requests.get('/pipeline/unwatched', query, signal);
  }

  sensor(device: string, sensor: string, signal?: AbortSignal): Promise<SensorInfo & { device_id: string }> {
    return this.requests.get(sensorPath(device, sensor), {}, signal);
  }

  measurements(
    device: string,
    sensor: string,
    query: Query,
    signal?: AbortSignal,
  ): Promise<Page<Measurement>> {
    return this.requests.get(`${sensorPath(device, sensor)}/measurements`, query, signal);
  }

  /** Reads all samples of a range, oldest first: with one request as CSV, or page by page if the API has no files. `ts`: epoch ms */
  async samples(device: string, sensor: string, query: Query, signal?: AbortSignal): Promise<Samples> {
    const all = { ...query, order: 'asc' };
    const path = `${sensorPath(device, sensor)}/measurements${toQuery(all)}`;
    return this.#limited(async () => {
      const text = await this.requests.read(path, signal, { type: 'text/csv, application/json;q=0.5' });
      if (!text.startsWith('{')) return readCsv(text);
      let { items, next }: Page<Measurement> = JSON.parse(text);
      while (next !== null) {
        const page = await this.measurements(device, sensor, { ...all, limit: 1000, cursor: next }, signal);
        items = items.concat(page.items);
        next = page.next;
      }
      return { ts: items.map(({ ts }) => Date.parse(ts)), value: items.map(({ value }) => value) };
    }, signal);
  }

  series(device: string, sensor: string, query: Query, signal?: AbortSignal): Promise<Series> {
    return this.#limited(
      () => this.requests.get(`${sensorPath(device, sensor)}/series`, query, signal),
      signal,
    );
  }

  async ingest(signal?: AbortSignal): Promise<{ auto_register: boolean; mqtt: Mqtt | null }> {
    return (await this.requests.get('/pipeline', {}, signal)).ingest;
  }

  submit(device: string, measurements: unknown): Promise<{ accepted: number }> {
    return this.requests.post(`/measurements${toQuery({ device })}`, { body: measurements });
  }

  #limited<T>(request: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#options.limit?.run(request, signal) ?? request();
  }
}

/** @param text CSV with the columns `ts` and `value` */
export function readCsv(text: string): Samples {
  const lines = text.split('\n').slice(1, -1);
  return {
    ts: lines.map((line) => Date.parse(line.slice(0, line.indexOf(',')))),
    value: lines.map((line) => Number(line.slice(line.indexOf(',') + 1))),
  };
}

/** Creates a limit of the number of concurrent requests. Further requests wait, and start in the order of their calls. */
export function createLimit(limit: number) {
  let passing = 0;
  const waiting: (() => void)[] = [];

  /** When a request ends, the longest waiting request takes its place. A new request cannot overtake it. */
  function leave() {
    const next = waiting.shift();
    if (next) next();
    else passing -= 1;
  }

  return {
    /** @param signal if it aborts while the request waits, the request is never sent */
    async run<T>(request: () => Promise<T>, signal?: AbortSignal): Promise<T> {
      if (passing >= limit) await new Promise((go) => waiting.push(() => go(undefined)));
      else passing += 1;
      try {
        signal?.throwIfAborted();
        return await request();
      } finally {
        leave();
      }
    },
  };
}

type Limit = ReturnType<typeof createLimit>;
