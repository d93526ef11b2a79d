import { copyBytes } from '../../../api/ingest/admission/byte-budget.ts';
import type { HandleMessage } from '../../../api/ingest/pipeline.ts';
import type { MessageSource } from '../../../api/mqtt/index.ts';
import { parseTopic } from '../../../schema/topics.ts';
import { createClocks, createDevices, deviceName, encodePayloads, writeTime } from '../load/payloads.ts';
import type { Shape } from '../load/shapes.ts';

/** Messages at once: as many as the subscriber accepts from a broker. */
const AT_ONCE = 512;

/**
 * A source without a broker: it makes the messages of a load in this process, and passes them to `handleMessage`. The difference between
 * this rate and the rate behind a broker is the cost of MQTT.
 */
export function createLoopSource(
  { clock }: { clock: () => number },
  { handleMessage }: { handleMessage: HandleMessage },
) {
  const clocks = createClocks();
  let running = false;
  let ended: Promise<unknown> = Promise.resolve();

  function run(shape: Shape) {
    const { payloads, timeAt } = encodePayloads(shape);
    const devices = createDevices({ clocks, first: 0, count: shape.devices, samples: shape.samples });
    let next = 0;

    const message = () => {
      const receivedAt = clock();
      devices.advance(receivedAt);
      // The payload is copied, because ingest still reads a message when the next message is made.
      const payload = copyBytes(payloads[next++ % payloads.length] as Buffer);
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
    } as MessageSource,
    begin(shape: Shape) {
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
