import { createDevices } from '../load/devices.js';
import { samplesOf } from '../load/shapes.js';
import { OPCODES } from './frames.js';
import { createGroups } from './groups.js';
import { createTemplate } from './templates.js';

/** @import { Shape } from '../load/shapes.js' */
/** @import { Connection } from './connection.js' */
/** @import { Template } from './templates.js' */

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
export async function createLoop({ connection, keyspace, groups, shape, clocks, onError }) {
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
    /** Writes the next message: its rows, and its part of `latest` beside them. @param {() => void} [settled] */
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
