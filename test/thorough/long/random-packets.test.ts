import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import mqttPacket from 'mqtt-packet';
import { Random } from '../../../simulator/random.ts';
import { sharedContactPoint } from '../../support/database/engine.ts';
import { type Gate, startGate } from '../../support/http/tcp-gate.ts';
import {
  connectBytes,
  PINGREQ,
  publishBytes,
  subscribeBytes,
  unsubscribeBytes,
} from '../../support/mqtt/packets.ts';
import { startTestSystem, type TestSystem } from '../../support/system/index.ts';
import { until } from '../../support/until.ts';

const CONNECTIONS = 50;
/** Duration of the test. `PACKETS_FOR_MS=3600000` makes it one hour. */
const FOR_MS = Number(process.env['PACKETS_FOR_MS'] ?? 60_000);
const SEED = Number(process.env['PACKETS_SEED'] ?? jest.getSeed());
const MAX_PACKETS = 400;
const MAX_PAUSE_MS = 2000;
const FIRST_TS = Date.now() - 86_400_000;

let gate: Gate;
let system: TestSystem;
beforeAll(async () => {
  gate = await startGate(`cql://${sharedContactPoint()}`);
  system = await startTestSystem({ settings: { CQL_CONTACT_POINTS: `127.0.0.1:${gate.port}` } });
}, 300_000);
afterAll(async () => {
  await gate?.open();
  await system?.stop();
  await gate?.stop();
});

/** A client that sends bursts of random packets in random pieces, and waits for every answer. */
class RandomClient {
  #name;
  #random;
  #socket: Socket | null = null;
  /** such as `puback 7` */
  #awaited: Set<string> = new Set();
  /** Unanswered PINGREQs. They have no id. */
  #pings = 0;
  #lastId = 0;
  /** Answers received. */
  answers = 0;
  /** Measurements sent. */
  sent = 0;

  constructor(name: string, random: Random) {
    this.#name = name;
    this.#random = random;
  }

  async open() {
    const socket = connect(system.mqttPort, '127.0.0.1');
    this.#socket = socket;
    const parser = mqttPacket.parser({ protocolVersion: 4 });
    parser.on('packet', ({ cmd, messageId }) => {
      this.answers++;
      if (cmd === 'pubrec') socket.write(mqttPacket.generate({ cmd: 'pubrel', messageId }));
      if (cmd === 'pingresp') this.#pings--;
      else this.#awaited.delete(cmd === 'connack' ? cmd : `${cmd} ${messageId}`);
    });
    socket.on('data', (chunk) => void parser.parse(chunk));
    await once(socket, 'connect');
    this.#awaited.add('connack');
    socket.write(connectBytes({ clientId: this.#name }));
    await this.#untilAnswered();
  }

  close() {
    this.#socket?.destroy();
  }

  /** Sends a burst, and waits until all of it is answered. The PINGREQ at its end shows that packets of QoS 0 were read. */
  async burst() {
    const random = this.#random;
    const packets = [];
    for (let left = 1 + Math.floor(MAX_PACKETS * random.uniform() ** 3); left > 0; left--)
      packets.push(this.#packet());
    packets.push(this.#ping());
    const bytes = Buffer.concat(packets);
    for (let at = 0; at < bytes.length; ) {
      const size = random.uniform() < 0.5 ? bytes.length : 1 + Math.floor(random.uniform() * 2000);
      this.#socket?.write(bytes.subarray(at, at + size));
      at += size;
      if (random.uniform() < 0.1) await sleep(random.uniform() * 20);
    }
    await this.#untilAnswered();
  }

  /** @returns a packet whose answer is awaited from now on */
  #packet(): Buffer {
    const random = this.#random;
    const kind = random.uniform();
    if (kind < 0.02) return this.#ping();
    this.#lastId = (this.#lastId % 65_535) + 1;
    const id = this.#lastId;
    if (kind < 0.05) {
      this.#awaited.add(`suback ${id}`);
      return subscribeBytes(id, `nobody/publishes/${this.#name}/${id % 20}`);
    }
    if (kind < 0.08) {
      this.#awaited.add(`unsuback ${id}`);
      return unsubscribeBytes(id, `nobody/publishes/${this.#name}/${id % 20}`);
    }
    const filler = ' '.repeat(random.uniform() < 0.98 ? random.uniform() * 400 : random.uniform() * 100_000);
    const payload = `{"sensor_id":"a","ts":${FIRST_TS + this.sent},"value":${this.sent}}${filler}`;
    this.sent++;
    const topic = `iot/v1/${this.#name}/measurements`;
    if (kind < 0.3) return publishBytes(topic, payload);
    const qos = kind < 0.8 ? 1 : 2;
    this.#awaited.add(qos === 1 ? `puback ${id}` : `pubcomp ${id}`);
    return publishBytes(topic, payload, id, qos);
  }

  #ping() {
    this.#pings++;
    return PINGREQ;
  }

  /** A connection is idle if no answer comes for minutes. On a busy machine all answers of a burst may take longer. */
  async #untilAnswered() {
    while (this.#awaited.size + this.#pings > 0) {
      const before = this.answers;
      await until(() => this.answers > before, {
        withinMs: 300_000,
        what: `${this.#name}: an answer after ${before}, such as ${[...this.#awaited].slice(0, 3).join(', ')}`,
      });
    }
  }
}

/** Lets the database answer and be silent by turns, so that messages settle at random times. */
async function pauseSettling(random: Random, signal: AbortSignal) {
  while (!signal.aborted) {
    await sleep(random.uniform() * MAX_PAUSE_MS);
    gate.cut('silence');
    await sleep(random.uniform() * MAX_PAUSE_MS);
    await gate.open();
  }
}

test(
  'Embedded broker: random packets in random pieces: each packet is answered, and each measurement is stored',
  async () => {
    const random = new Random(SEED);
    const clients = Array.from(
      { length: CONNECTIONS },
      (_, index) => new RandomClient(`random-${index}`, new Random(SEED + index)),
    );
    await Promise.all(clients.map((client) => client.open()));
    const pauses = new AbortController();
    const pausing = pauseSettling(random, pauses.signal);
    const end = performance.now() + FOR_MS;
    try {
      await Promise.all(
        clients.map(async (client) => {
          while (performance.now() < end) {
            await client.burst();
            await sleep(random.uniform() * 1000);
          }
        }),
      );
    } catch (error) {
      const answers = clients.map((client) => client.answers).join(', ');
      throw new Error(`seed ${SEED}, answers by connection: ${answers}`, { cause: error });
    } finally {
      pauses.abort();
      await pausing;
      for (const client of clients) client.close();
    }
    const sent = clients.reduce((sum, client) => sum + client.sent, 0);
    // The last messages of QoS 0 have no answer that shows when they are settled.
    const measurements = await until(
      async () => {
        const pipeline = await system.get('/pipeline');
        return pipeline.measurements.received >= sent && pipeline.measurements;
      },
      { what: `${sent} settled measurements` },
    );
    expect({ seed: SEED, ...measurements }).toEqual({
      seed: SEED,
      received: sent,
      stored: sent,
      merged: 0,
      refused: 0,
      skipped: 0,
    });
  },
  FOR_MS + 400_000,
);
