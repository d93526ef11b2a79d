import type { Query } from './request.ts';
import { BASE, createRequests, readProblem, toQuery } from './request.ts';
import type {
  Alarm,
  AlarmRule,
  Annotation,
  Backtest,
  BaselineHour,
  Credential,
  DeadLetter,
  DeadLetterSummary,
  DeviceEvent,
  DeviceInfo,
  DeviceItem,
  FleetInfo,
  Imported,
  ImportProposal,
  IssuedCredential,
  LatestItem,
  Measurement,
  OutlierGroupPage,
  OutlierPage,
  Page,
  Pipeline,
  Readiness,
  RefusedDevices,
  ReplayResult,
  SearchResults,
  SensorInfo,
  Series,
  StatsThen,
  UnmatchedTopics,
  UnwatchedTime,
  WantedAlarmRule,
} from './types.ts';

/**
 * @param id UUID or name
 * @returns the id or name, encoded as one segment of a path
 */
const segment = (id: string): string => encodeURIComponent(id);

const sensorPath = (device: string, sensor: string) =>
  `/devices/${segment(device)}/sensors/${segment(sensor)}`;

/**
 * The client of the API, with a method for each route that the dashboard uses. Each method may throw a Problem, or an
 * AbortError after `signal` aborts.
 */
export class Client {
  // `requestOk` is for answers without a body, because an unread body keeps its connection open.
  readonly #requests: ReturnType<typeof createRequests>;
  readonly #options: { fetch: typeof globalThis.fetch; limit?: Limit };

  /** @param options `limit`: limit of the concurrent requests for series and samples */
  constructor(options: { fetch: typeof globalThis.fetch; limit?: Limit }) {
    this.#requests = createRequests(options);
    this.#options = options;
  }

  /** Returns a client for a page with many charts, so that only a few of its requests run at once. */
  withLimit(limit: Limit): Client {
    return new Client({ ...this.#options, limit });
  }

  /** Reads the readiness of the API. This route needs no token. */
  async readiness(signal?: AbortSignal): Promise<Readiness> {
    return (await this.#requests.request('/readyz', signal, { base: '' })).json();
  }

  latest(query: Query, signal?: AbortSignal): Promise<Page<LatestItem>> {
    return this.#requests.get('/latest', query, signal);
  }

  fleet(signal?: AbortSignal): Promise<FleetInfo> {
    return this.#requests.get('/fleet', {}, signal);
  }

  outliers(query: Query, signal?: AbortSignal): Promise<OutlierPage> {
    return this.#requests.get('/outliers', query, signal);
  }

  outlierGroups(query: Query, signal?: AbortSignal): Promise<OutlierGroupPage> {
    return this.#requests.get('/outliers/groups', query, signal);
  }

  devices(query: Query, signal?: AbortSignal): Promise<Page<DeviceItem>> {
    return this.#requests.get('/devices', query, signal);
  }

  /** @returns search results, the best match first */
  search(text: string, signal?: AbortSignal): Promise<SearchResults> {
    return this.#requests.get('/search', { q: text }, signal);
  }

  device(device: string, signal?: AbortSignal): Promise<DeviceInfo> {
    return this.#requests.get(`/devices/${segment(device)}`, {}, signal);
  }

  /** @returns events, newest first */
  events(device: string, query: Query, signal?: AbortSignal): Promise<Page<DeviceEvent>> {
    return this.#requests.get(`/devices/${segment(device)}/events`, query, signal);
  }

  unwatched(query: Query, signal?: AbortSignal): Promise<UnwatchedTime> {
    return this.#requests.get('/pipeline/unwatched', query, signal);
  }

  /** Retires a device: removes it from the fleet. */
  async retire(device: string, signal?: AbortSignal): Promise<void> {
    await this.#requests.requestOk(`/devices/${segment(device)}`, signal, { method: 'DELETE' });
  }

  sensor(device: string, sensor: string, signal?: AbortSignal): Promise<SensorInfo & { device_id: string }> {
    return this.#requests.get(sensorPath(device, sensor), {}, signal);
  }

  /** @returns the baseline of each hour of the current day */
  baseline(device: string, sensor: string, signal?: AbortSignal): Promise<{ hours: BaselineHour[] }> {
    return this.#requests.get(`${sensorPath(device, sensor)}/baseline`, {}, signal);
  }

  /** @returns samples, newest first */
  measurements(
    device: string,
    sensor: string,
    query: Query,
    signal?: AbortSignal,
  ): Promise<Page<Measurement>> {
    return this.#requests.get(`${sensorPath(device, sensor)}/measurements`, query, signal);
  }

  /**
   * Reads all samples of a range with one request.
   *
   * @returns samples, oldest first; `ts`: their times in epoch ms
   */
  async samples(
    device: string,
    sensor: string,
    query: Query,
    signal?: AbortSignal,
  ): Promise<{ ts: number[]; value: number[] }> {
    const path = `${sensorPath(device, sensor)}/measurements${toQuery({ ...query, order: 'asc' })}`;
    return this.#limited(
      async () => readCsv(await this.#requests.read(path, signal, { type: 'text/csv' })),
      signal,
    );
  }

  /** @returns URL of an export file, which the browser streams to disk */
  exportHref(device: string, sensor: string, query: Query & { format: 'csv' | 'ndjson' }): string {
    return `${BASE}${sensorPath(device, sensor)}/measurements${toQuery({ ...query, order: 'asc' })}`;
  }

  series(device: string, sensor: string, query: Query, signal?: AbortSignal): Promise<Series> {
    return this.#limited(
      () => this.#requests.get(`${sensorPath(device, sensor)}/series`, query, signal),
      signal,
    );
  }

  /** @returns annotations, newest first */
  annotations(query: Query, signal?: AbortSignal): Promise<Page<Annotation>> {
    return this.#requests.get('/annotations', query, signal);
  }

  /** @param annotation `ts`: time of the annotation in epoch ms */
  async annotate(annotation: { text: string; ts: number; device?: string }): Promise<void> {
    await this.#requests.read('/annotations', undefined, { method: 'POST', body: annotation });
  }

  async removeAnnotation({ id, device_id }: Pick<Annotation, 'id' | 'device_id'>): Promise<void> {
    const path = `/annotations/${segment(id)}${toQuery({ device: device_id })}`;
    await this.#requests.requestOk(path, undefined, { method: 'DELETE' });
  }

  /** @returns alarms, newest first */
  alarms(query: Query, signal?: AbortSignal): Promise<Page<Alarm>> {
    return this.#requests.get('/alarms', query, signal);
  }

  async acknowledgeAlarm(id: string, given: { by?: string; comment?: string }): Promise<void> {
    await this.#requests.read(`/alarms/${segment(id)}/acknowledge`, undefined, {
      method: 'POST',
      body: given,
    });
  }

  /** @param given `until`: time in epoch ms at which the shelving ends */
  async shelveAlarm(id: string, given: { until: number; by?: string; comment?: string }): Promise<void> {
    await this.#requests.read(`/alarms/${segment(id)}/shelve`, undefined, { method: 'POST', body: given });
  }

  /**
   * @param content a file, or whole lines of a file
   * @param type media type of the content
   * @returns the result; the API answers after it has committed the samples
   */
  importPiece(content: Blob, type: string, query: Query, signal: AbortSignal): Promise<Imported> {
    return this.#requests.post(`/import${toQuery(query)}`, { file: { type, content } }, signal);
  }

  /** @param content beginning of a file @returns options that describe the file */
  importProposal(content: Blob, type: string): Promise<ImportProposal> {
    return this.#requests.post('/import/proposal', { file: { type, content } });
  }

  /** @returns alarm rules, sorted by name */
  alarmRules(signal?: AbortSignal): Promise<{ items: AlarmRule[] }> {
    return this.#requests.get('/alarm-rules', {}, signal);
  }

  /** @param id id of the rule to replace; null: the API creates a new rule */
  async saveAlarmRule(rule: WantedAlarmRule, id: string | null): Promise<void> {
    const path = id === null ? '/alarm-rules' : `/alarm-rules/${segment(id)}`;
    await this.#requests.read(path, undefined, { method: id === null ? 'POST' : 'PUT', body: rule });
  }

  async removeAlarmRule(id: string): Promise<void> {
    await this.#requests.requestOk(`/alarm-rules/${segment(id)}`, undefined, { method: 'DELETE' });
  }

  /** @returns the alarms that the rule would have opened in the last 30 days */
  testAlarmRule(rule: WantedAlarmRule, signal?: AbortSignal): Promise<Backtest> {
    return this.#requests.post('/alarm-rules/test', { body: rule }, signal);
  }

  testAlarmDelivery(): Promise<{ items: Array<{ target: string; error: string | null }> }> {
    return this.#requests.post('/alarm-deliveries/test');
  }

  /** @returns pipeline statistics, one entry per second, the oldest first */
  recentStats(signal?: AbortSignal): Promise<{ items: StatsThen[] }> {
    return this.#requests.get('/pipeline/recent', {}, signal);
  }

  pipeline(signal?: AbortSignal): Promise<Pipeline> {
    return this.#requests.get('/pipeline', {}, signal);
  }

  /** @returns dead letters, newest first */
  deadLetters(query: Query, signal?: AbortSignal): Promise<Page<DeadLetter>> {
    return this.#requests.get('/dead-letters', query, signal);
  }

  deadLetterSummary(query: Query, signal?: AbortSignal): Promise<DeadLetterSummary> {
    return this.#requests.get('/dead-letters/summary', query, signal);
  }

  /** @returns the devices with refused measurements in the last five minutes */
  refusedDevices(signal?: AbortSignal): Promise<RefusedDevices> {
    return this.#requests.get('/dead-letters/devices', {}, signal);
  }

  deadLetter(id: string, signal?: AbortSignal): Promise<DeadLetter> {
    return this.#requests.get(`/dead-letters/${segment(id)}`, {}, signal);
  }

  unmatchedTopics(signal?: AbortSignal): Promise<UnmatchedTopics> {
    return this.#requests.get('/unmatched-topics', {}, signal);
  }

  submit(device: string, measurements: unknown): Promise<{ accepted: number }> {
    return this.#requests.post(`/measurements${toQuery({ device })}`, { body: measurements });
  }

  credentials(query: Query, signal?: AbortSignal): Promise<Page<Credential>> {
    return this.#requests.get('/credentials', query, signal);
  }

  issueCredential(account: string, devices: string[]): Promise<IssuedCredential> {
    return this.#requests.post('/credentials', { body: { account, devices } });
  }

  /** @returns the credential with its new secret */
  rotateCredential(account: string): Promise<IssuedCredential> {
    return this.#requests.post(`/credentials/${segment(account)}/rotate`);
  }

  async revokeCredential(account: string): Promise<void> {
    await this.#requests.requestOk(`/credentials/${segment(account)}`, undefined, { method: 'DELETE' });
  }

  /** @returns the outcome of each refused measurement */
  async replay(id: string): Promise<ReplayResult> {
    const response = await this.#requests.request(`/dead-letters/${segment(id)}/replay`, undefined, {
      method: 'POST',
    });
    if (response.ok) return { refused: [], ...(await response.json()) };
    const body = response.status === 422 ? await response.clone().json() : {};
    if (!Array.isArray(body.refused)) throw await readProblem(response);
    return { accepted: body.accepted, refused: body.refused };
  }

  #limited<T>(request: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#options.limit?.run(request, signal) ?? request();
  }
}

/**
 * @param text CSV with the columns `ts` and `value`
 * @returns the two columns; `ts`: times in epoch ms
 */
export function readCsv(text: string): { ts: number[]; value: number[] } {
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
    /**
     * @param request sends the request; it is called as soon as fewer requests run than the limit allows
     * @param signal if it aborts while the request waits, the request is never sent
     */
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
