import { type Place, startNode } from './node.ts';

/** Time limit for the stop of a node, in ms. A drain writes the memory to disk, possibly while other nodes drain, too. */
const STOP_WITHIN_MS = 60_000;

/** The name that SimpleSnitch gives. */
export const ONLY_DATA_CENTER = 'datacenter1';

/** Can be stopped or killed, and started again with its data. */
export interface Member {
  name: string;
  dataCenter: string;
  contactPoint: string;
  running: boolean;
  /** settles when the node answers CQL */
  start: () => Promise<void>;
  stop: () => Promise<void>;
  /** the node must run */
  nodetool: (args: string[]) => Promise<string>;
  /** program and first arguments, for other processes; empty while the node does not run */
  nodetoolCommand: string[];
  kill: () => Promise<void>;
  signal: (signal: NodeJS.Signals) => void;
}

export function createMember({
  name,
  dataDir,
  engineDir,
  place,
  signal,
}: {
  name: string;
  dataDir: string;
  engineDir: string;
  place: Place;
  signal?: AbortSignal;
}): Member {
  let engine: Awaited<ReturnType<typeof startNode>> | null = null;
  return {
    name,
    dataCenter: place.ring?.site?.dataCenter ?? ONLY_DATA_CENTER,
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
    signal: (name) => engine?.signal(name),
  };
}
