import pino from 'pino';
import { MessageDecoder } from '../../../api/ingest/decode/index.js';
import { arrivalOf } from '../../../api/ingest/pipeline.js';
import { createBirths } from '../../../api/ingest/registry/births.js';
import { ClockNotices } from '../../../api/ingest/registry/clock-notices.js';
import { Registry } from '../../../api/ingest/registry/index.js';
import { createSparkplug } from '../../../api/ingest/sparkplug/index.js';
import { createMetrics } from '../../../api/observability/metrics.js';
import { Retry } from '../../../api/store/sending/retry.js';
import { identifyDevice } from '../../../schema/ids.js';
import { parseTopic } from '../../../schema/topics.js';
import { createMemoryStore } from '../memory-store/index.js';

/** @import { MessageBatch } from '../../../api/ingest/decode/message-batch.js' */
/** @import { Identity } from '../../../schema/ids.js' */

const GROUPS = 4;
const HISTORY_DAYS = 365;

/** Retries temporary failures. */
export const newRetry = () => new Retry({ logger: pino({ level: 'silent' }), onRetry: () => {} });

/** @param {Pick<MessageBatch, 'sensors'>} batch @returns {[sensor: string, value: number][]} */
export const valuesOf = ({ sensors }) =>
  [...sensors].flatMap(([sensor, { values }]) =>
    values.map((value) => /** @type {[string, number]} */ ([sensor, value])),
  );

/**
 * Connects the reader of Sparkplug messages and the registry to a database in memory, for one edge node with its device `press`.
 *
 * @param {() => number} clock epoch ms
 */
export async function createMemoryEdgeNode(clock) {
  /** @type {string[]} tables of the waiting writes */
  const waiting = [];
  /** @type {{ table: string, opened: Promise<void> } | null} */
  let gate = null;
  const memory = await createMemoryStore({
    clock,
    async around({ table, kind }, run) {
      if (gate && table === gate.table && kind !== 'select') {
        waiting.push(table);
        await gate.opened;
      }
      return run();
    },
  });
  const { store } = memory;
  const retry = newRetry();
  const limits = { autoRegister: true, autoRegisterMax: 100 };
  const registry = new Registry({ store: store.write.registry, groups: GROUPS, limits, retry, clock });
  const clocks = new ClockNotices({ logger: pino({ level: 'silent' }) });
  const births = createBirths({ registry, store: store.write.registry, retry, clock, clocks });
  const decoder = new MessageDecoder({ historyMs: 1e11, maxClockSkewMs: 300_000, relativeTimes: true });
  const metrics = createMetrics({ version: 'test', role: 'all' });
  /** @type {string[]} topics of the rebirth commands to the node */
  const commands = [];

  const start = () =>
    createSparkplug({
      store: store.write.sparkplug,
      registry,
      decoder,
      retry,
      send: (topic) => void commands.push(topic),
      maxMessageBytes: 1_048_576,
      historyDays: HISTORY_DAYS,
      clock,
      metrics,
    });
  let sparkplug = start();

  /** @param {string} type */
  function topicOf(type) {
    const topic = `spBv1.0/plant/${type}/edge-1${type.startsWith('D') ? '/press' : ''}`;
    const parsed = parseTopic(topic);
    if (!parsed?.sparkplug) throw new Error(`${topic} is not a topic of an edge node`);
    const identity = /** @type {Identity} */ (identifyDevice(parsed.device));
    return { topic, sparkplug: parsed.sparkplug, identity };
  }

  return {
    ...memory,
    commands,
    registry,

    waiting,

    /** Holds the writes to a table. @param {string} table @returns {() => void} releases them */
    hold(table) {
      let open = () => {};
      const opened = new Promise((/** @type {(value: void) => void} */ resolve) => {
        open = resolve;
      });
      gate = { table, opened };
      return open;
    },

    /** @returns {Promise<number>} number of rebirth requests, from the metric */
    async requests() {
      const text = await metrics.registry.metrics();
      return Number(/^iot_sparkplug_rebirth_requests_total (\d+)$/m.exec(text)?.[1]);
    },

    /** Registers a device as its first message does, without a birth. @param {string} name */
    register: (name) => registry.device(/** @type {Identity} */ (identifyDevice(name))),

    /** Starts the reader again, as in another process: it only knows the data in the database. */
    restart: () => {
      sparkplug = start();
    },

    /**
     * @param {'NBIRTH' | 'NDATA' | 'NDEATH' | 'DBIRTH' | 'DDATA' | 'DDEATH'} type
     * @param {Buffer} payload
     * @param {{ dup?: boolean }} [options] `dup`: the broker sends it a second time
     * @returns the result, after the birth is registered; `ended`: names
     */
    async send(type, payload, { dup = false } = {}) {
      const { topic, sparkplug: place, identity } = topicOf(type);
      const message = {
        topic,
        route: parseTopic(topic),
        payload,
        retained: false,
        receipt: { from: null },
        receivedAt: clock(),
        dup,
      };
      const { birth, ended, batch, isContradictory } = await sparkplug.read(message, place, identity);
      const as = isContradictory ? 'contradictory' : arrivalOf(message).as;
      if (birth) await births.register(identity, birth, { receivedAt: clock(), as });
      return { birth, isContradictory, ended: ended.map(({ name }) => name), batch };
    },

    /** A birth was refused. @param {'NBIRTH' | 'DBIRTH'} type */
    doubt: (type) => sparkplug.forgetRefusedBirth(topicOf(type).sparkplug),

    /** The connection to the broker broke. */
    forgetBirths: () => sparkplug.forgetBirths(),

    /** @param {'NBIRTH' | 'NDATA' | 'NDEATH' | 'DBIRTH' | 'DDATA' | 'DDEATH'} type @param {Buffer} payload */
    readAgain(type, payload) {
      const { sparkplug: place, identity } = topicOf(type);
      return sparkplug.readAgain({ payload, receivedAt: clock(), now: clock() }, place, identity);
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof createMemoryEdgeNode>>} MemoryEdgeNode */
