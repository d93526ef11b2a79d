import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { JDK_ACCESS, LOGGING } from './command.js';

const run = promisify(execFile);

/** Enough for the output of a repair of a large table. */
const MOST_OUTPUT_BYTES = 64 * 1024 * 1024;

/**
 * The address of a running node, for nodetool.
 *
 * @typedef {object} Place
 * @property {string} java the program
 * @property {string} jars folder of the jars
 * @property {string} home where the tool keeps its history
 * @property {number} jmxPort of the node, on loopback
 */

/**
 * @param {Place} place
 * @returns {[string, ...string[]]} the program and its first arguments, what nodetool is elsewhere
 */
export const nodetoolCommand = ({ java, jars, home, jmxPort }) => [
  java,
  ...['-Xmx128m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', `-Duser.home=${home}`, LOGGING],
  ...JDK_ACCESS,
  ...['-cp', join(jars, '*'), 'org.apache.cassandra.tools.NodeTool'],
  ...['-h', '127.0.0.1', '-p', String(jmxPort)],
];

/**
 * Cassandra's own tool for a running node, for operations that CQL does not have: repair, snapshots, leaving.
 *
 * @param {Place & { signal?: AbortSignal }} options `signal` ends the tool, not what the node does for it
 */
export function createNodetool({ signal, ...place }) {
  const command = nodetoolCommand(place);
  const [program, ...first] = command;
  /**
   * @param {string[]} args such as `['repair', '-full', 'iot']`
   * @returns {Promise<string>} what it prints
   * @throws {Error} with what it prints, when it fails
   */
  const nodetool = async (args) => {
    const { stdout } = await run(program, [...first, ...args], { maxBuffer: MOST_OUTPUT_BYTES, signal });
    return stdout;
  };
  return Object.assign(nodetool, { command });
}

/** @typedef {ReturnType<typeof createNodetool>} Nodetool */
