import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { JDK_ACCESS, LOGGING } from './command.js';

const run = promisify(execFile);

/** Of what a repair of a large table may print. */
const MOST_OUTPUT_BYTES = 64 * 1024 * 1024;

/**
 * Cassandra's own tool for a running node, for what CQL has no words for: repair, snapshots, leaving.
 *
 * @param {object} options
 * @param {string} options.java the program
 * @param {string} options.jars folder of the jars
 * @param {string} options.home where the tool keeps its history
 * @param {number} options.jmxPort of the node, on loopback
 * @param {AbortSignal} [options.signal] ends the tool, not what the node does for it
 */
export const createNodetool =
  ({ java, jars, home, jmxPort, signal }) =>
  /**
   * @param {string[]} args such as `['repair', '-full', 'iot']`
   * @returns {Promise<string>} what it prints
   * @throws {Error} with what it prints, when it fails
   */
  async (args) => {
    const virtualMachine = [
      '-Xmx128m',
      '-XX:TieredStopAtLevel=1',
      `-Duser.home=${home}`,
      LOGGING,
      ...JDK_ACCESS,
    ];
    const tool = ['-cp', join(jars, '*'), 'org.apache.cassandra.tools.NodeTool'];
    const where = ['-h', '127.0.0.1', '-p', String(jmxPort)];
    const { stdout } = await run(java, [...virtualMachine, ...tool, ...where, ...args], {
      maxBuffer: MOST_OUTPUT_BYTES,
      signal,
    });
    return stdout;
  };

/** @typedef {ReturnType<typeof createNodetool>} Nodetool */
