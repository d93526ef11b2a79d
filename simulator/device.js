import { createConnection } from './mqtt/connection.js';
import { birthTopic, measurementsTopic, statusPayload, statusTopic } from './mqtt/topics.js';
import { createOutbox } from './outbox.js';
import { countSamples } from './payloads/index.js';

/**
 * @typedef {object} SensorDescription
 * @property {string} name
 * @property {string} type
 * @property {string} [unit]
 * @property {number} [intervalMs]
 */

/** @typedef {{ name: string, site?: string, sensors: SensorDescription[] }} DeviceDescription */

/**
 * A device as the broker knows it: on every connect it publishes its birth, then that it is online, then what it owes;
 * at the end, that it is offline.
 *
 * @param {object} options
 * @param {DeviceDescription} options.description
 * @param {import('./mqtt/connection.js').Broker} options.broker
 * @param {string} options.clientId
 * @param {(series: import('./payloads/index.js').Series[]) => string} options.encode
 * @param {{ buffer: number, window: number }} options.limits most batches waiting, most unacknowledged
 * @param {import('./meter.js').Meter} options.meter
 * @param {(reason: string) => void} options.onTrouble why there is no connection just now
 * @param {(reason: string) => void} options.onRefused the broker will not have this device
 */
export function createDevice({ description, broker, clientId, encode, limits, meter, onTrouble, onRefused }) {
  const { name } = description;
  const topics = {
    measurements: measurementsTopic(name),
    birth: birthTopic(name),
    status: statusTopic(name),
  };

  const connection = createConnection({
    broker,
    device: name,
    clientId,
    onTrouble,
    onRefused,
    onUp(session) {
      connection.publish(topics.birth, birthPayload(description, session));
      connection.publish(topics.status, statusPayload('online', session), { retain: true });
      outbox.open();
    },
    onDown: () => outbox.close(),
  });

  const outbox = createOutbox({
    limit: limits.buffer,
    window: limits.window,
    send: ({ payload }, onAcknowledged) =>
      connection.publish(topics.measurements, payload, { onAcknowledged }),
    onAcknowledged: ({ samples, sentAt }) => meter.acknowledged(samples, Date.now() - sentAt),
    onDropped: ({ samples }) => meter.dropped(samples),
  });

  /** @returns {Promise<void>} when the broker has taken our word that we leave */
  const sayOffline = () =>
    new Promise((resolve) => {
      connection.publish(topics.status, statusPayload('offline', connection.session), {
        retain: true,
        onAcknowledged: resolve,
      });
    });

  return {
    start: connection.start,
    whenOwingAtMost: outbox.whenAtMost,
    release: outbox.release,

    get connected() {
      return connection.up;
    },

    /** @param {import('./payloads/index.js').Series[]} series one batch, which becomes one message */
    publish(series) {
      const samples = countSamples(series);
      meter.queued(samples);
      outbox.push(encode(series), samples);
    },

    /**
     * Waits for what is owed, says goodbye, disconnects. Past the deadline the connection is torn, and the will speaks.
     *
     * @param {Promise<unknown>} deadline
     */
    async stop(deadline) {
      await Promise.race([outbox.whenAtMost(0), deadline]);
      const orderly = connection.up && outbox.size() === 0;
      if (orderly) await Promise.race([sayOffline(), deadline]);
      await connection.stop({ orderly });
    },
  };
}

/** @typedef {ReturnType<typeof createDevice>} Device */

/** @param {DeviceDescription} description @param {number} session */
const birthPayload = ({ name, site, sensors }, session) =>
  JSON.stringify({
    session,
    name,
    site,
    sensors: sensors.map((sensor) => ({
      sensor_id: sensor.name,
      name: sensor.name,
      type: sensor.type,
      unit: sensor.unit,
      interval_ms: sensor.intervalMs,
    })),
  });
