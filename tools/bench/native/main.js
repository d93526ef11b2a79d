import { MAX_STATEMENTS_PER_BATCH } from '../../../schema/rules.js';
import { createLatencies, pace } from '../load/open-loop.js';
import { createClocks, createDevices } from '../load/payloads.js';
import { samplesOf } from '../load/shapes.js';
import { serve } from '../process/child.js';
import { batchFrame, OPCODES, openConnection } from './protocol.js';
import { createTemplate } from './templates.js';

/** @import { Shape } from '../load/shapes.js' */
/** @import { Connection } from './protocol.js' */
/** @import { Template } from './templates.js' */

// The database's own limit: a process that writes a load without MQTT, parsing or a driver.
const { BENCH_CONTACT_POINT = '', BENCH_KEYSPACE = '', BENCH_GROUPS = '' } = process.env;
const connection = await openConnection(BENCH_CONTACT_POINT);

const clocks = createClocks();
let inFlight = 128;
let before = 0;
/** @type {Loop | null} */
let loop = null;
let running = false;

/** @param {Shape} shape */
async function open(shape) {
  before += loop?.committed ?? 0;
  loop = await createLoop({
    connection,
    keyspace: BENCH_KEYSPACE,
    groups: Number(BENCH_GROUPS),
    shape,
    clocks,
    onError(error) {
      console.error(error);
      process.exit(1);
    },
  });
  return loop;
}

const settled = async () => {
  while (loop && loop.unsettled > 0) await new Promise(setImmediate);
};

serve({
  committed: () => before + (loop?.committed ?? 0),

  /** @param {number} most */
  inFlight(most) {
    inFlight = most;
  },

  /** @param {Shape} shape as fast as it is committed */
  async begin(shape) {
    const current = await open(shape);
    running = true;
    const next = () => {
      if (running) current.write(next);
    };
    for (let at = 0; at < inFlight; at++) next();
  },

  async end() {
    running = false;
    await settled();
  },

  /** @param {{ shape: Shape, rate: number, forMs: number }} load `rate`: samples/s */
  async paced({ shape, rate, forMs }) {
    const current = await open(shape);
    const latencies = createLatencies();
    await pace({
      rate: rate / samplesOf(shape),
      forMs,
      send: (intended) => current.write(() => latencies.record(performance.now() - intended)),
    });
    await settled();
    return latencies.read();
  },
});

/**
 * Writes the batches of a load as fast as a client can: nothing is parsed, hashed or encoded, frames go out as bytes.
 *
 * @param {object} options
 * @param {Connection} options.connection
 * @param {string} options.keyspace
 * @param {number} options.groups `LATEST_GROUPS`
 * @param {Shape} options.shape
 * @param {Float64Array} options.clocks see `createClocks`
 * @param {(error: Error) => void} options.onError
 */
async function createLoop({ connection, keyspace, groups, shape, clocks, onError }) {
  /** @type {Map<string, Promise<Buffer>>} */
  const prepared = new Map();
  const prepare = (/** @type {string} */ cql) => {
    const qualified = cql.replace(/^(INSERT INTO|UPDATE) /, `$1 ${keyspace}.`);
    const id = prepared.get(cql) ?? connection.prepare(qualified);
    prepared.set(cql, id);
    return id;
  };
  const templates = await Promise.all(
    Array.from({ length: shape.devices }, (_, number) => createTemplate(shape, number, { groups, prepare })),
  );
  const devices = createDevices({ clocks, first: 0, count: shape.devices, samples: shape.samples });
  const latest = createGroups((frame, answered) => send(frame, answered));
  const perMessage = samplesOf(shape);
  let committed = 0;
  let unsettled = 0;

  /** @param {Buffer} frame @param {() => void} answered */
  function send(frame, answered) {
    connection.send(frame, (opcode, body) => {
      if (opcode === OPCODES.error) onError(new Error(body.toString('utf8', 6)));
      else answered();
    });
  }

  return {
    /** Writes the next message: its rows and, at the same time, its part of `latest`. @param {() => void} [settled] */
    write(settled) {
      devices.advance(Date.now());
      const template = /** @type {Template} */ (templates[devices.number]);
      const { time } = devices;
      unsettled++;
      let left = 2;
      const done = () => {
        if (--left > 0) return;
        unsettled--;
        committed += perMessage;
        settled?.();
      };
      send(template.rows(time), done);
      latest.add(template.group, template.updates(time), done);
    },
    /** Samples. */
    get committed() {
      return committed;
    },
    /** Messages. */
    get unsettled() {
      return unsettled;
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof createLoop>>} Loop */

/**
 * The group commit of `latest` at its smallest: one batch of a group in flight, the next gathers meanwhile.
 *
 * @param {(frame: Buffer, answered: () => void) => void} send
 */
function createGroups(send) {
  /** @type {Map<number, { busy: boolean, entries: Buffer[], done: Array<() => void> }>} */
  const groups = new Map();

  /** @param {{ busy: boolean, entries: Buffer[], done: Array<() => void> }} group */
  function flush(group) {
    const entries = group.entries;
    const done = group.done;
    if (entries.length === 0) return;
    group.busy = true;
    group.entries = [];
    group.done = [];
    let left = Math.ceil(entries.length / MAX_STATEMENTS_PER_BATCH);
    for (let at = 0; at < entries.length; at += MAX_STATEMENTS_PER_BATCH) {
      send(batchFrame(entries.slice(at, at + MAX_STATEMENTS_PER_BATCH)), () => {
        if (--left > 0) return;
        group.busy = false;
        for (const settle of done) settle();
        flush(group);
      });
    }
  }

  return {
    /** @param {number} key @param {Buffer[]} updates @param {() => void} settled */
    add(key, updates, settled) {
      let group = groups.get(key);
      if (!group) {
        group = { busy: false, entries: [], done: [] };
        groups.set(key, group);
      }
      group.entries.push(...updates);
      group.done.push(settled);
      if (!group.busy) flush(group);
    },
  };
}
