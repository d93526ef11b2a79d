import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { JDK_ACCESS, LOGGING } from './command.ts';

const run = promisify(execFile);

/** Maximum size of nodetool's output, in bytes. The repair of a large table stays below it. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

interface Place {
  java: string;
  jars: string;
  /** directory in which nodetool keeps its history */
  home: string;
  jmxPort: number;
}

export const nodetoolCommand = ({ java, jars, home, jmxPort }: Place): [string, ...string[]] => [
  java,
  ...['-Xmx128m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', `-Duser.home=${home}`, LOGGING],
  ...JDK_ACCESS,
  ...['-cp', join(jars, '*'), 'org.apache.cassandra.tools.NodeTool'],
  ...['-h', '127.0.0.1', '-p', String(jmxPort)],
];

/**
 * nodetool has operations that CQL lacks: repair, snapshots, removal of the node.
 * @param options `signal` ends nodetool, but not the operation that nodetool started in the node
 */
export function createNodetool({ signal, ...place }: Place & { signal?: AbortSignal }) {
  const command = nodetoolCommand(place);
  const [program, ...first] = command;
  /** @throws {Error} when nodetool fails; the message has its output */
  const nodetool = async (args: string[]): Promise<string> => {
    const { stdout } = await run(program, [...first, ...args], { maxBuffer: MAX_OUTPUT_BYTES, signal });
    return stdout;
  };
  return Object.assign(nodetool, { command });
}

export type Nodetool = ReturnType<typeof createNodetool>;
