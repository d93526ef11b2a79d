import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand } from '../../../common/command.ts';
import { readCommandSettings } from '../../../common/dev-addresses.ts';
import { MillraceError } from '../../../common/errors.ts';
import { type CommandGroup, type CommandLine, parseGroup, usageError } from '../../../common/flags.ts';
import type { Config } from '../../../common/settings/config.ts';
import { DATABASE_SETTINGS, namedSettings } from '../../../common/settings/index.ts';
import { abortOnStop } from '../../../common/stop-signal.ts';
import { formatTime, parseMoment } from '../../../common/times.ts';
import { GRAPH_SETTINGS } from '../../../schema/graph.ts';
import { connectStore } from '../../store/index.ts';
import { Gremlin } from './gremlin.ts';
import { Mirror, type Position } from './mirror.ts';
import { query } from './query.ts';
import { createGraphTables } from './tables.ts';
import { TRAVERSALS } from './traversals.ts';

const COMMAND = 'npm run graph --';

const COMMANDS = {
  mirror: {
    help: 'copies what is new into the graph: assets, devices, sensors, their places, and alarms',
    examples: [`${COMMAND} mirror`, `${COMMAND} mirror --every 10s`],
    flags: {
      every: { type: 'duration', help: 'goes on, and looks for changes in this interval', min: 1000 },
    },
  },
  status: {
    help: 'shows how far the mirror is behind, and what the graph has',
    examples: [`${COMMAND} status`],
    flags: {},
  },
  query: {
    help: `runs a traversal, and prints a line of JSON for each row; NAME is ${Object.keys(TRAVERSALS).join(', ')}`,
    examples: [
      `${COMMAND} query children 'Plant 1/Line 2'`,
      `${COMMAND} query sensors 'Plant 1' --at 2026-11-20T00:00:00Z`,
      `${COMMAND} query alarmed`,
      `${COMMAND} query path 'Plant 1/Line 2' --gremlin`,
    ],
    words: { usage: 'NAME [ASSET]', rule: 'a name, and the path or the id of an asset', least: 1, most: 2 },
    flags: {
      at: { type: 'text', help: 'the time of the answer: ISO 8601, or 30d for 30 days ago; default: now' },
      gremlin: { type: 'switch', help: 'prints the traversal and its bindings, for the Gremlin console' },
    },
  },
} satisfies Record<string, Omit<CommandLine, 'command'>>;

const GROUP: CommandGroup<typeof COMMANDS> = {
  command: COMMAND,
  help: 'Mirrors the assets of the database in JanusGraph, and queries them there.',
  examples: [`${COMMAND} mirror`, `${COMMAND} query alarmed`],
  commands: COMMANDS,
  settings: [...DATABASE_SETTINGS, ...namedSettings(GRAPH_SETTINGS, ['GRAPH_URL'])],
};

/** A count of all vertices reads the whole graph. */
const STATUS =
  "g.V().union(groupCount().by(label), hasId('root').valueMap('version', 'registered', 'alarms').by(unfold())).fold()";

// npm run graph: nothing of Millrace needs the graph, so it may be deleted and mirrored again.
await runCommand(async () => {
  const { command, flags, words } = parseGroup(GROUP, process.argv.slice(2));
  const config = readCommandSettings('database', { further: ['GRAPH_URL'] });
  const gremlin = new Gremlin(config.of(GRAPH_SETTINGS).url);
  if (command === 'mirror') return mirror(config, gremlin, flags.every);
  if (command === 'status') return status(config, gremlin);
  const at = parseMoment(flags.at, Date.now());
  if (at === null) throw usageError(COMMAND, ['--at is ISO 8601, or a duration such as 30d']);
  const [name = '', asset] = words;
  const lines = await query(gremlin, {
    name,
    asset,
    at: at ?? Date.now(),
    showsText: flags.gremlin === true,
  });
  for (const line of lines) console.log(line);
});

async function mirror(config: Config, gremlin: Gremlin, everyMs: number | undefined) {
  const signal = abortOnStop();
  const store = await openStore(config);
  try {
    const { historyDays } = config.retention;
    const tables = createGraphTables(store.session);
    const running = new Mirror({ gremlin, tables, store, historyDays, clock: Date.now });
    let position = await running.begin();
    do {
      position = await running.catchUp(position);
      console.log(`Mirrored until edit ${position.version}, at ${formatTime(position.alarms)}`);
      if (everyMs !== undefined) await sleep(everyMs, null, { signal }).catch(() => {});
    } while (everyMs !== undefined && !signal.aborted);
  } finally {
    await store.close();
  }
}

async function status(config: Config, gremlin: Gremlin) {
  const store = await openStore(config);
  try {
    const [found] = await gremlin.submit<Array<Partial<Position> & Record<string, number>>>(STATUS, {});
    const position = found?.find(({ version, registered }) => version ?? registered);
    if (!position) throw new MillraceError('failed', `The graph is empty: ${COMMAND} mirror`);
    const counts = found?.find((each) => each !== position) ?? {};
    const { version = 0, registered = 0, alarms = 0 } = position;
    let newest = version;
    for await (const edit of createGraphTables(store.session).edits(version)) newest = edit.version;
    console.log(`Edits of assets  ${newest - version} behind: ${version} of ${newest} are mirrored`);
    console.log(`Registry         read at ${formatTime(registered)}`);
    console.log(`Alarms           read at ${formatTime(alarms)}`);
    for (const kind of ['asset', 'device', 'sensor'])
      console.log(`${`Vertices: ${kind}`.padEnd(16)} ${counts[kind] ?? 0}`);
  } finally {
    await store.close();
  }
}

function openStore({ cql, retention }: Config) {
  return connectStore({ cql, retention, observe: () => {}, onStaleIndex: () => {} });
}
