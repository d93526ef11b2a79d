import { BASE, createRequests, readProblem, toQuery } from './request.js';

/** @import { Alarm, AlarmRule, Annotation, Backtest, BaselineHour, Credential, DeadLetter, DeadLetterSummary, DeviceEvent, DeviceInfo, DeviceItem, FleetInfo, Imported, IssuedCredential, LatestItem, Measurement, OutlierGroupPage, OutlierPage, Page, Pipeline, Readiness, RefusedDevices, ReplayResult, SearchResult, SensorInfo, Series, StatsThen, UnmatchedTopics, WantedAlarmRule } from './types.js' */
/** @import { Query } from './request.js' */

/** @param {string} id UUID or name @returns {string} a path segment */
const segment = (id) => encodeURIComponent(id);

/** @param {string} device @param {string} sensor */
const sensorPath = (device, sensor) => `/devices/${segment(device)}/sensors/${segment(sensor)}`;

/**
 * The routes of the API that the dashboard reads. Every method may throw a Problem, or an AbortError by `signal`.
 *
 * @param {{ fetch: typeof globalThis.fetch }} deps
 */
export function createClient({ fetch }) {
  const { get, good, read, reach } = createRequests({ fetch });

  return {
    /** Anybody may ask. @param {AbortSignal} [signal] @returns {Promise<Readiness>} */
    readiness: async (signal) => (await reach('/readyz', signal, { base: '' })).json(),

    /** @param {Query} query @param {AbortSignal} [signal] @returns {Promise<Page<LatestItem>>} */
    latest: (query, signal) => get('/latest', query, signal),

    /** @param {AbortSignal} [signal] @returns {Promise<FleetInfo>} */
    fleet: (signal) => get('/fleet', {}, signal),

    /** @param {Query} query @param {AbortSignal} [signal] @returns {Promise<OutlierPage>} */
    outliers: (query, signal) => get('/outliers', query, signal),

    /** @param {Query} query @param {AbortSignal} [signal] @returns {Promise<OutlierGroupPage>} */
    outlierGroups: (query, signal) => get('/outliers/groups', query, signal),

    /** @param {Query} query @param {AbortSignal} [signal] @returns {Promise<Page<DeviceItem>>} */
    devices: (query, signal) => get('/devices', query, signal),

    /**
     * @param {string} text @param {AbortSignal} [signal]
     * @returns {Promise<{ items: SearchResult[], more: boolean }>} the best first
     */
    search: (text, signal) => get('/search', { q: text }, signal),

    /** @param {string} device @param {AbortSignal} [signal] @returns {Promise<DeviceInfo>} */
    device: (device, signal) => get(`/devices/${segment(device)}`, {}, signal),

    /**
     * @param {string} device @param {Query} query @param {AbortSignal} [signal]
     * @returns {Promise<Page<DeviceEvent>>} newest first
     */
    events: (device, query, signal) => get(`/devices/${segment(device)}/events`, query, signal),

    /** Takes it out of the fleet. @param {string} device @param {AbortSignal} [signal] @returns {Promise<void>} */
    async retire(device, signal) {
      await good(`/devices/${segment(device)}`, signal, { method: 'DELETE' });
    },

    /**
     * @param {string} device @param {string} sensor @param {AbortSignal} [signal]
     * @returns {Promise<SensorInfo & { device_id: string }>}
     */
    sensor: (device, sensor, signal) => get(sensorPath(device, sensor), {}, signal),

    /**
     * @param {string} device @param {string} sensor @param {AbortSignal} [signal]
     * @returns {Promise<{ hours: BaselineHour[] }>} what is usual, hour by hour of the present day
     */
    baseline: (device, sensor, signal) => get(`${sensorPath(device, sensor)}/baseline`, {}, signal),

    /**
     * @param {string} device @param {string} sensor @param {Query} query @param {AbortSignal} [signal]
     * @returns {Promise<Page<Measurement>>} newest first
     */
    measurements: (device, sensor, query, signal) =>
      get(`${sensorPath(device, sensor)}/measurements`, query, signal),

    /**
     * All samples of a range at once, oldest first.
     *
     * @param {string} device @param {string} sensor @param {Query} query @param {AbortSignal} [signal]
     * @returns {Promise<{ ts: number[], value: number[] }>} `ts` in epoch ms
     */
    async samples(device, sensor, query, signal) {
      const path = `${sensorPath(device, sensor)}/measurements${toQuery({ ...query, order: 'asc' })}`;
      return readCsv(await read(path, signal, { type: 'text/csv' }));
    },

    /**
     * @param {string} device @param {string} sensor @param {Query & { format: 'csv' | 'ndjson' }} query
     * @returns {string} address of a file that the browser streams to disk
     */
    exportHref: (device, sensor, query) =>
      `${BASE}${sensorPath(device, sensor)}/measurements${toQuery({ ...query, order: 'asc' })}`,

    /**
     * @param {string} device @param {string} sensor @param {Query} query @param {AbortSignal} [signal]
     * @returns {Promise<Series>}
     */
    series: (device, sensor, query, signal) => get(`${sensorPath(device, sensor)}/series`, query, signal),

    /** @param {Query} query @param {AbortSignal} [signal] @returns {Promise<Page<Annotation>>} newest first */
    annotations: (query, signal) => get('/annotations', query, signal),

    /** @param {{ text: string, ts: number, device?: string }} annotation `ts` in epoch ms @returns {Promise<void>} */
    async annotate(annotation) {
      // A body that nobody reads keeps its connection.
      await read('/annotations', undefined, { method: 'POST', body: annotation });
    },

    /** @param {Pick<Annotation, 'id' | 'device_id'>} annotation @returns {Promise<void>} */
    async removeAnnotation({ id, device_id }) {
      await good(`/annotations/${segment(id)}${toQuery({ device: device_id })}`, undefined, {
        method: 'DELETE',
      });
    },

    /** @param {Query} query @param {AbortSignal} [signal] @returns {Promise<Page<Alarm>>} newest first */
    alarms: (query, signal) => get('/alarms', query, signal),

    /** @param {string} id @param {{ by?: string, comment?: string }} given @returns {Promise<void>} */
    async acknowledgeAlarm(id, given) {
      await good(`/alarms/${segment(id)}/acknowledge`, undefined, { method: 'POST', body: given });
    },

    /** @param {string} id @param {{ until: number, by?: string, comment?: string }} given `until`: epoch ms @returns {Promise<void>} */
    async shelveAlarm(id, given) {
      await good(`/alarms/${segment(id)}/shelve`, undefined, { method: 'POST', body: given });
    },

    /**
     * @param {Blob} content a file, or whole lines of it
     * @param {string} type media type
     * @param {Query} query
     * @param {AbortSignal} signal
     * @returns {Promise<Imported>} after the commit
     */
    async importPiece(content, type, query, signal) {
      const how = { method: /** @type {const} */ ('POST'), file: { type, content } };
      return JSON.parse(await read(`/import${toQuery(query)}`, signal, how));
    },

    /** @param {AbortSignal} [signal] @returns {Promise<{ items: AlarmRule[] }>} by name */
    alarmRules: (signal) => get('/alarm-rules', {}, signal),

    /** @param {WantedAlarmRule} rule @param {string | null} id null: a new one @returns {Promise<void>} */
    async saveAlarmRule(rule, id) {
      const path = id === null ? '/alarm-rules' : `/alarm-rules/${segment(id)}`;
      await good(path, undefined, { method: id === null ? 'POST' : 'PUT', body: rule });
    },

    /** @param {string} id @returns {Promise<void>} */
    async removeAlarmRule(id) {
      await good(`/alarm-rules/${segment(id)}`, undefined, { method: 'DELETE' });
    },

    /** @param {WantedAlarmRule} rule @param {AbortSignal} [signal] @returns {Promise<Backtest>} of the last 30 days */
    async testAlarmRule(rule, signal) {
      return JSON.parse(await read('/alarm-rules/test', signal, { method: 'POST', body: rule }));
    },

    /** @returns {Promise<{ items: Array<{ target: string, error: string | null }> }>} */
    async testAlarmDelivery() {
      return JSON.parse(await read('/alarm-deliveries/test', undefined, { method: 'POST' }));
    },

    /** @param {AbortSignal} [signal] @returns {Promise<{ items: StatsThen[] }>} one a second, the oldest first */
    recentStats: (signal) => get('/pipeline/recent', {}, signal),

    /** @param {AbortSignal} [signal] @returns {Promise<Pipeline>} */
    pipeline: (signal) => get('/pipeline', {}, signal),

    /** @param {Query} query @param {AbortSignal} [signal] @returns {Promise<Page<DeadLetter>>} newest first */
    deadLetters: (query, signal) => get('/dead-letters', query, signal),

    /** @param {Query} query @param {AbortSignal} [signal] @returns {Promise<DeadLetterSummary>} */
    deadLetterSummary: (query, signal) => get('/dead-letters/summary', query, signal),

    /** @param {AbortSignal} [signal] @returns {Promise<RefusedDevices>} of the last five minutes */
    refusedDevices: (signal) => get('/dead-letters/devices', {}, signal),

    /** @param {string} id @param {AbortSignal} [signal] @returns {Promise<DeadLetter>} */
    deadLetter: (id, signal) => get(`/dead-letters/${segment(id)}`, {}, signal),

    /** @param {AbortSignal} [signal] @returns {Promise<UnmatchedTopics>} */
    unmatchedTopics: (signal) => get('/unmatched-topics', {}, signal),

    /** @param {string} device @param {unknown} measurements @returns {Promise<{ accepted: number }>} */
    async submit(device, measurements) {
      const how = { method: /** @type {const} */ ('POST'), body: measurements };
      return JSON.parse(await read(`/measurements${toQuery({ device })}`, undefined, how));
    },

    /** @param {Query} query @param {AbortSignal} [signal] @returns {Promise<Page<Credential>>} */
    credentials: (query, signal) => get('/credentials', query, signal),

    /** @param {string} account @param {string[]} devices @returns {Promise<IssuedCredential>} */
    async issueCredential(account, devices) {
      const how = { method: /** @type {const} */ ('POST'), body: { account, devices } };
      return JSON.parse(await read('/credentials', undefined, how));
    },

    /** @param {string} account @returns {Promise<IssuedCredential>} with a new secret */
    async rotateCredential(account) {
      return JSON.parse(await read(`/credentials/${segment(account)}/rotate`, undefined, { method: 'POST' }));
    },

    /** @param {string} account @returns {Promise<void>} */
    async revokeCredential(account) {
      await good(`/credentials/${segment(account)}`, undefined, { method: 'DELETE' });
    },

    /** @param {string} id @returns {Promise<ReplayResult>} what became of each measurement that had been refused */
    async replay(id) {
      const response = await reach(`/dead-letters/${segment(id)}/replay`, undefined, { method: 'POST' });
      if (response.ok) return { refused: [], ...(await response.json()) };
      const body = response.status === 422 ? await response.clone().json() : {};
      if (!Array.isArray(body.refused)) throw await readProblem(response);
      return { accepted: body.accepted, refused: body.refused };
    },
  };
}

/** @typedef {ReturnType<typeof createClient>} Client */

/** @param {string} text of lines `ts,value` @returns {{ ts: number[], value: number[] }} */
export function readCsv(text) {
  const lines = text.split('\n').slice(1, -1);
  return {
    ts: lines.map((line) => Date.parse(line.slice(0, line.indexOf(',')))),
    value: lines.map((line) => Number(line.slice(line.indexOf(',') + 1))),
  };
}

/**
 * Lets a few requests through at once; the others wait in order.
 *
 * @param {number} limit
 */
export function createLimit(limit) {
  let passing = 0;
  /** @type {(() => void)[]} */
  const waiting = [];

  /** The longest waiting request starts when another one ends. A new request cannot overtake it. */
  function leave() {
    const next = waiting.shift();
    if (next) next();
    else passing -= 1;
  }

  return {
    /**
     * @template T
     * @param {() => Promise<T>} request begun in its turn
     * @param {AbortSignal} [signal] who gives up while waiting asks nothing
     * @returns {Promise<T>}
     */
    async run(request, signal) {
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

/** @typedef {ReturnType<typeof createLimit>} Limit */

/**
 * The client for a page of many charts: few of their readings are under way at once.
 *
 * @param {Client} client
 * @param {Limit} limit
 * @returns {Client}
 */
export const withLimit = (client, limit) => ({
  ...client,
  series: (device, sensor, query, signal) =>
    limit.run(() => client.series(device, sensor, query, signal), signal),
  samples: (device, sensor, query, signal) =>
    limit.run(() => client.samples(device, sensor, query, signal), signal),
});
