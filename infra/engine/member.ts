import { startNode } from './node.js';

/** @import { Place } from './node.js' */

/** Time limit for the stop of a node, in ms. A drain writes the memory to disk, possibly while other nodes drain, too. */
const STOP_WITHIN_MS = 60_000;

/**
 * One node of a cluster. It can be stopped or killed, and started again with its data.
 *
 * @typedef {object} Member
 * @property {string} name such as `node 1`
 * @property {string} contactPoint `ADDRESS:PORT`
 * @property {boolean} running
 * @property {() => Promise<void>} start starts the node, unless it runs; the promise settles when the node answers CQL
 * @property {() => Promise<void>} stop drains and stops the node, and keeps its data
 * @property {(args: string[]) => Promise<string>} nodetool runs nodetool for the node, which must run
 * @property {string[]} nodetoolCommand the program nodetool with its first arguments, for use in other processes; empty while the
 *   node does not run
 * @property {() => Promise<void>} kill ends the node by SIGKILL; the promise settles when the process has ended
 */

/**
 * @param {object} options
 * @param {string} options.name
 * @param {string} options.dataDir data directory of this node
 * @param {string} options.engineDir folder of the jars
 * @param {Place} options.place
 * @param {AbortSignal} [options.signal] aborts a start
 * @returns {Member}
 */
export function createMember({ name, dataDir, engineDir, place, signal }) {
  /** @type {Awaited<ReturnType<typeof startNode>> | null} */
  let engine = null;
  return {
    name,
    contactPoint: `${place.host}:${place.port}`,
    get running() {
      return engine !== null;
    },
    async start() {
      engine ??= await startNode({
        dataDir,
        place,
        engineDir,
        profile: 'member',
        onStatus: () => {},
        signal,
      });
    },
    async stop() {
      await engine?.stop({ withinMs: STOP_WITHIN_MS });
      engine = null;
    },
    async nodetool(args) {
      if (!engine) throw new Error(`${name} does not run`);
      return engine.nodetool(args);
    },
    get nodetoolCommand() {
      return engine?.nodetool.command ?? [];
    },
    async kill() {
      engine?.kill();
      await engine?.exited;
      engine = null;
    },
  };
}
