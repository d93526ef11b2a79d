import { copyBytes } from '../../../api/ingest/admission/byte-budget.js';
import { parseTopic } from '../../../schema/topics.js';
import { createClocks, createDevices, deviceName, encodePayloads, writeTime } from '../load/payloads.js';

/** @import { HandleMessage } from '../../../api/ingest/pipeline.js' */
/** @import { MessageSource } from '../../../api/mqtt/index.js' */
/** @import { Shape } from '../load/shapes.js' */

/** Number of messages that ingest processes at once: as many as the subscriber accepts from a broker. */
const AT_ONCE = 512;

/**
 * Creates a message source without a broker. It makes the messages of a load in this process, and passes them to `handleMessage`.
 * The difference between this rate and the rate behind a broker is the cost of MQTT.
 *
 * @param {{ clock: () => number }} context
 * @param {{ handleMessage: HandleMessage }} deps
 */
export function createLoopSource({ clock }, { handleMessage }) {
  const clocks = createClocks();
  let running = false;
  /** @type {Promise<unknown>} */
  let ended = Promise.resolve();

  /** @param {Shape} shape */
  function run(shape) {
    const { payloads, timeAt } = encodePayloads(shape);
    const devices = createDevices({ clocks, first: 0, count: shape.devices, samples: shape.samples });
    let next = 0;

    const message = () => {
      const receivedAt = clock();
      devices.advance(receivedAt);
      // The payload is copied, because ingest still reads a message when the next message is made.
      const payload = copyBytes(/** @type {Buffer} */ (payloads[next++ % payloads.length]));
      writeTime(payload, timeAt, devices.time);
      const topic = `iot/v1/${deviceName(devices.number)}/measurements`;
      return {
        topic,
        route: parseTopic(topic),
        payload,
        retained: false,
        receipt: { from: null },
        receivedAt,
      };
    };
    const settleOneByOne = async () => {
      while (running) await handleMessage(message());
    };
    return Promise.all(Array.from({ length: AT_ONCE }, settleOneByOne));
  }

  return {
    /** @type {MessageSource} */
    source: {
      checks: {
        broker: () => ({ ok: true, message: 'no broker' }),
        acknowledgements: () => ({ ok: true, message: 'none wait' }),
      },
      start: async () => {},
      send: () => {},
      stop: async () => {},
      recheck: async () => {},
      followers: null,
      mqttPort: 0,
    },
    /** @param {Shape} shape */
    begin(shape) {
      running = true;
      ended = run(shape);
      ended.catch((error) => {
        console.error(error);
        process.exit(1);
      });
    },
    /** Settles when ingest has settled every message. */
    async end() {
      running = false;
      await ended;
    },
  };
}
