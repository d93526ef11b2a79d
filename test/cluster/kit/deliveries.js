import { noteOf } from '../../../simulator/ledger/format.js';
import { createLedger } from '../../../simulator/ledger/ledger.js';

/** @import { Series } from '../../../simulator/payloads/index.js' */
/** @import { WireConnection, WireWatch } from '../../support/mqtt-wire.js' */

/**
 * Writes down what a broker delivers to ingest and what ingest acknowledges to the broker, as a ledger: what is in it
 * and acknowledged is our promise, whatever the broker has promised to others.
 *
 * @param {string} path
 * @returns {{ watch: WireWatch, close: () => void }}
 */
export function createDeliveryRecord(path) {
  const ledger = createLedger({
    path,
    onFailed: (error) => {
      throw error;
    },
  });
  /** @type {WeakMap<WireConnection, Map<number, number>>} numbers in the ledger by packet id, of what is unacknowledged */
  const owed = new WeakMap();

  /** @param {WireConnection} connection */
  function owedOn(connection) {
    const known = owed.get(connection) ?? new Map();
    owed.set(connection, known);
    return known;
  }

  return {
    watch: {
      delivered(connection, id, body) {
        const { topic, payload } = readPublish(body);
        const [, , device, kind] = topic.split('/');
        if (kind === 'measurements')
          owedOn(connection).set(id, ledger.sent(noteOf(String(device), seriesOf(payload))));
      },
      acknowledged(connection, id) {
        const number = owedOn(connection).get(id);
        if (number !== undefined) ledger.acknowledged(number);
        owedOn(connection).delete(id);
      },
    },
    close: ledger.close,
  };
}

/** Adds a message to a ledger that a broker acknowledged and then forgot: nobody else received it. @param {string} path of the ledger */
export function noteLostMessage(path) {
  const ledger = createLedger({
    path,
    onFailed: (error) => {
      throw error;
    },
  });
  const samples = [{ ts: Date.now(), value: 1 }];
  ledger.acknowledged(Number(ledger.sent(noteOf('collar-0001', [{ name: 'lost', samples }]))));
  ledger.close();
}

/** MQTT 5, section 3.3: topic, packet id, properties, payload. @param {Buffer} body of a PUBLISH of QoS 1 */
function readPublish(body) {
  const topicEnd = 2 + body.readUInt16BE(0);
  let at = topicEnd + 2;
  let properties = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = body.readUInt8(at++);
    properties += (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return { topic: body.toString('utf8', 2, topicEnd), payload: body.subarray(at + properties) };
}

/**
 * @param {Buffer} payload plain JSON
 * @returns {Series[]}
 */
function seriesOf(payload) {
  /** @type {Array<{ sensor_id: string, ts: number, value: number }>} */
  const records = JSON.parse(payload.toString());
  const names = new Set(records.map(({ sensor_id }) => sensor_id));
  return [...names].map((name) => ({
    name,
    samples: records.filter(({ sensor_id }) => sensor_id === name),
  }));
}
