import { noteOf } from '../../../simulator/ledger/format.js';
import { Ledger } from '../../../simulator/ledger/ledger.js';

/** @import { Series } from '../../../simulator/payloads/index.js' */
/** @import { WireConnection, WireWatch } from '../../support/mqtt/wire.js' */

/**
 * Records in a ledger what a broker delivers to ingest, and what ingest acknowledges to the broker. Every acknowledged
 * message of this ledger is a promise of Millrace. It does not depend on the broker's promises to its publishers.
 *
 * @param {string} path
 * @returns {{ watch: WireWatch, close: () => void }}
 */
export function createDeliveryRecord(path) {
  const ledger = new Ledger({
    path,
    onFailed: (error) => {
      throw error;
    },
  });
  /** @type {WeakMap<WireConnection, Map<number, number>>} ledger numbers of unacknowledged messages, by packet id */
  const unacknowledged = new WeakMap();

  /** @param {WireConnection} connection */
  function unacknowledgedOn(connection) {
    const numbers = unacknowledged.get(connection) ?? new Map();
    unacknowledged.set(connection, numbers);
    return numbers;
  }

  return {
    watch: {
      delivered(connection, id, { topic, payload }) {
        const [, , device, kind] = topic.split('/');
        if (kind === 'measurements')
          unacknowledgedOn(connection).set(id, ledger.sent(noteOf(String(device), seriesOf(payload))));
      },
      acknowledged(connection, id) {
        const number = unacknowledgedOn(connection).get(id);
        if (number !== undefined) ledger.acknowledged(number);
        unacknowledgedOn(connection).delete(id);
      },
    },
    close: () => ledger.close(),
  };
}

/** Adds an acknowledged message to a ledger that nobody received, as if the broker had forgotten it. @param {string} path of the ledger */
export function noteLostMessage(path) {
  const ledger = new Ledger({
    path,
    onFailed: (error) => {
      throw error;
    },
  });
  const samples = [{ ts: Date.now(), value: 1 }];
  ledger.acknowledged(Number(ledger.sent(noteOf('collar-0001', [{ name: 'lost', samples }]))));
  ledger.close();
}

/** @param {string | Buffer} payload plain JSON @returns {Series[]} */
function seriesOf(payload) {
  /** @type {Array<{ sensor_id: string, ts: number, value: number }>} */
  const records = JSON.parse(payload.toString());
  const names = new Set(records.map(({ sensor_id }) => sensor_id));
  return [...names].map((name) => ({
    name,
    samples: records.filter(({ sensor_id }) => sensor_id === name),
  }));
}
