import pino from 'pino';
import { Rebirths } from '../../../../api/features/sparkplug/host.ts';
import { Sparkplug } from '../../../../api/features/sparkplug/sparkplug.ts';
import { createSparkplugStore } from '../../../../api/features/sparkplug/store.ts';
import { parseEdgeTopic } from '../../../../api/features/sparkplug/topics.ts';
import { MessageDecoder } from '../../../../api/ingest/decode/index.ts';
import type { MessageBatch } from '../../../../api/ingest/decode/message-batch.ts';
import { arrivalOf } from '../../../../api/ingest/pipeline.ts';
import { Births } from '../../../../api/ingest/registry/births.ts';
import { Registry } from '../../../../api/ingest/registry/index.ts';
import { ClockNotices } from '../../../../api/ingest/registry/sessions.ts';
import { Retry } from '../../../../api/store/sending/retry.ts';
import { type Identity, identifyDevice } from '../../../../schema/ids.ts';
import { createMemoryStore } from '../../memory-store/index.ts';

const GROUPS = 4;
const HISTORY_DAYS = 365;

/** Retries temporary failures. */
export const newRetry = () => new Retry({ logger: pino({ level: 'silent' }), onRetry: () => {} });

export const valuesOf = ({ sensors }: Pick<MessageBatch, 'sensors'>): [sensor: string, value: number][] =>
  [...sensors].flatMap(([sensor, { values }]) => values.map((value) => [sensor, value] as [string, number]));

/**
 * Connects the reader of Sparkplug messages and the registry to a database in memory, for one edge node with its device `press`.
 * @param clock epoch ms
 */
export async function createMemoryEdgeNode(clock: () => number) {
  const waiting: string[] = [];
  let gate: { table: string; opened: Promise<void> } | null = null;
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
  const births = new Births({ registry, store: store.write.registry, retry, clock, clocks });
  const decoder = new MessageDecoder({ historyMs: 1e11, maxClockSkewMs: 300_000, relativeTimes: true });
  let requests = 0;
  const commands: string[] = [];

  const start = () =>
    new Sparkplug({
      store: createSparkplugStore(store.write.session),
      registry,
      decoder,
      retry,
      maxMessageBytes: 1_048_576,
      historyDays: HISTORY_DAYS,
      rebirths: new Rebirths({
        send: (topic) => void commands.push(topic),
        clock,
        onRequest: () => requests++,
      }),
    });
  let sparkplug = start();

  function topicOf(type: string) {
    const topic = `spBv1.0/plant/${type}/edge-1${type.startsWith('D') ? '/press' : ''}`;
    const route = parseEdgeTopic(topic);
    if (route?.kind !== 'sparkplug') throw new Error(`${topic} is not a topic of an edge node`);
    const identity = identifyDevice(route.device) as Identity;
    return { topic, sparkplug: route.sparkplug, identity };
  }

  return {
    ...memory,
    commands,
    registry,

    waiting,

    /** Holds the writes to a table. @returns releases them */
    hold(table: string): () => void {
      let open = () => {};
      const opened = new Promise<void>((resolve) => {
        open = resolve;
      });
      gate = { table, opened };
      return open;
    },

    requests: () => requests,

    /** Registers a device as its first message does, without a birth. */
    register: (name: string) => registry.device(identifyDevice(name) as Identity),

    /** Starts the reader again, as in another process: it only knows the data in the database. */
    restart: () => {
      sparkplug = start();
    },

    /**
     * @param options `dup`: the broker sends it a second time
     * @returns the result, after the birth is registered; `ended`: names
     */
    async send(
      type: 'NBIRTH' | 'NDATA' | 'NDEATH' | 'DBIRTH' | 'DDATA' | 'DDEATH',
      payload: Buffer,
      { dup = false }: { dup?: boolean } = {},
    ) {
      const { topic, sparkplug: place, identity } = topicOf(type);
      const message = {
        topic,
        route: parseEdgeTopic(topic),
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

    /** A birth was refused. */
    doubt: (type: 'NBIRTH' | 'DBIRTH') => sparkplug.forgetRefusedBirth(topicOf(type).sparkplug),

    /** The connection to the broker broke. */
    forgetBirths: () => sparkplug.forgetBirths(),

    readAgain(type: 'NBIRTH' | 'NDATA' | 'NDEATH' | 'DBIRTH' | 'DDATA' | 'DDEATH', payload: Buffer) {
      const { sparkplug: place, identity } = topicOf(type);
      return sparkplug.readAgain({ payload, receivedAt: clock(), now: clock() }, place, identity);
    },
  };
}

export type MemoryEdgeNode = Awaited<ReturnType<typeof createMemoryEdgeNode>>;
