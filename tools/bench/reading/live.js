import { createLatencies } from '../load/latencies.js';
import { STEP_MS } from '../load/payloads.js';

/** @import { Latencies } from '../load/latencies.js' */
/** @import { HttpReader } from './http.js' */

/**
 * Readers of the live stream, as EventSource reads it: each its own connection, whatever comes is parsed. The publisher
 * writes into a message when it was published, so each item shows how long it took.
 *
 * @param {HttpReader} http
 * @param {number} samples of a sensor in a message, of which a reader gets the last
 */
export function createLiveReaders(http, samples) {
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
