import { createReading } from '../../../api/history/reading/index.js';
import { connect } from '../../../api/store/connect.js';
import { connectStore } from '../../../api/store/index.js';
import { readSettings } from '../../../common/settings/index.js';
import { groupOf, identifyDevice, identifySensor } from '../../../schema/ids.js';
import { createLatencies } from '../load/open-loop.js';
import { deviceName, STEP_MS } from '../load/payloads.js';
import { serve } from '../process/child.js';
import { createHttpReader } from './http.js';
import { createRowReader, KINDS } from './kinds.js';

/** @import { Identity } from '../../../schema/ids.js' */
/** @import { Target } from '../environment/front.js' */
/** @import { Latencies } from '../load/open-loop.js' */
/** @import { HttpReader } from './http.js' */
/** @import { Kind, Resolved } from './kinds.js' */

// A process that reads one kind at a time, on request of its parent.
const config = readSettings(process.env, { envFile: '' });
const client = await connect(config.cql, { keyspace: config.cql.keyspace, applicationName: 'bench' });
const store = await connectStore({
  cql: config.cql,
  retention: config.retention,
  observe: () => {},
  onStaleIndex: () => {},
});
const http = createHttpReader(String(process.env['BENCH_URL']));
const sources = { http, store, reading: createReading(store), rows: createRowReader(client) };
/** @type {LiveReaders | null} */
let live = null;

/** @param {Target} target @returns {Resolved} */
function resolve(target) {
  const device = /** @type {Identity} */ (identifyDevice(target.device));
  const sensor = /** @type {Identity} */ (identifySensor(device.id, target.sensor));
  const group = groupOf(device.bytes, config.retention.latestGroups);
  return { ...target, key: { group, device: device.bytes, sensor: sensor.bytes } };
}

serve(
  {
    /** @param {{ kind: Kind, target: Target, forMs: number }} order */
    async read({ kind, target, forMs }) {
      const latencies = createLatencies();
      const resolved = resolve(target);
      const began = performance.now();
      let items = 0;
      do {
        const asked = performance.now();
        items = await KINDS[kind](sources, resolved);
        latencies.record(performance.now() - asked);
      } while (performance.now() - began < forMs);
      return { ...latencies.read(), items, seconds: (performance.now() - began) / 1000 };
    },

    /** @param {{ readers: number, devicesEach: number, devices: number, samples: number }} options */
    async follow({ readers, devicesEach, devices, samples }) {
      const opened = createLiveReaders(http, samples);
      live = opened;
      const named = (/** @type {number} */ reader) =>
        Array.from({ length: devicesEach }, (_, at) => deviceName((reader * devicesEach + at) % devices));
      await Promise.all(Array.from({ length: readers }, (_, reader) => opened.follow(named(reader))));
    },

    unfollow: () => live?.end(),
  },
  async () => {
    live?.end();
    http.close();
    await Promise.all([store.close(), client.shutdown()]);
  },
);

/**
 * Readers of the live stream, as EventSource reads it: each its own connection, whatever comes is parsed. The publisher
 * writes into a message when it was published, so each item shows how long it took.
 *
 * @param {HttpReader} http
 * @param {number} samples of a sensor in a message, of which a reader gets the last
 */
function createLiveReaders(http, samples) {
  const latencies = createLatencies();
  /** @type {Set<() => void>} */
  const open = new Set();

  /** @param {string} data of a delta */
  function note(data) {
    const now = Date.now();
    for (const { ts } of JSON.parse(data).items) {
      latencies.record(now - (Date.parse(ts) - (samples - 1) * STEP_MS));
    }
  }

  return {
    /** @param {string[]} devices names @returns {Promise<void>} settles when the reader has a snapshot */
    async follow(devices) {
      const query = devices.map((device) => `device=${device}`).join('&');
      const answer = await http.open(`/api/v1/stream?${query}`, 'text/event-stream');
      open.add(() => answer.destroy());
      answer.setEncoding('utf8');
      let rest = '';
      await new Promise((resolve, reject) => {
        answer.on('error', reject);
        answer.on('data', (chunk) => {
          const events = (rest + chunk).split('\n\n');
          rest = events.pop() ?? '';
          for (const text of events) {
            const { event, data } = fieldsOf(text);
            if (event === 'snapshot') resolve(undefined);
            if (event === 'delta') note(data);
          }
        });
      });
    },

    /** @returns {Latencies} of all of them; they read no more */
    end() {
      for (const close of open) close();
      open.clear();
      return latencies.read();
    },
  };
}

/** @param {string} text lines `name: value` of one event @returns {Record<'event' | 'data', string>} */
function fieldsOf(text) {
  const fields = { event: '', data: '' };
  for (const line of text.split('\n')) {
    const colon = line.indexOf(': ');
    const name = line.slice(0, colon);
    if (name === 'event' || name === 'data') fields[name] = line.slice(colon + 2);
  }
  return fields;
}

/** @typedef {ReturnType<typeof createLiveReaders>} LiveReaders */
