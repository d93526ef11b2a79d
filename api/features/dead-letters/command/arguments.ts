import {
  type CommandGroup,
  type CommandLine,
  type Flag,
  parseGroup,
  usageError,
} from '../../../../common/flags.ts';
import { API_SETTINGS } from '../../../../common/settings/index.ts';
import { parseMoment } from '../../../../common/times.ts';
import { DAY_MS } from '../../../../schema/rules.ts';

const COMMAND = 'npm run dead-letters --';

const RANGE = {
  from: { type: 'text', help: 'ISO 8601, or how long ago, such as 2h; default a day ago' },
  to: { type: 'text', help: 'the same, not included; default now' },
} satisfies Record<string, Flag>;

const FILTER = {
  ...RANGE,
  code: { type: 'text', help: 'only dead letters with this code, such as unknown_device' },
  device: { type: 'text', help: 'only dead letters of this device, as the topic has it' },
} satisfies Record<string, Flag>;

const COMMANDS = {
  list: {
    help: 'lists dead letters, the newest first',
    examples: [`${COMMAND} list --from 2h --code unknown_device`],
    flags: {
      ...FILTER,
      limit: { type: 'integer', help: 'most dead letters shown', fallback: 50, min: 1 },
    },
  },
  summary: {
    help: 'counts dead letters by hour and code',
    examples: [`${COMMAND} summary --from 7d`],
    flags: RANGE,
  },
  show: {
    help: 'prints one dead letter with its payload',
    examples: [`${COMMAND} show 7b0f6f2e-c6a5-11f0-8001-0242ac120002`],
    words: { usage: 'ID', rule: 'the id of one dead letter', least: 1, most: 1 },
    flags: {},
  },
  replay: {
    help: 'stores the messages of these dead letters, or of those from --from to --to, after the cause is repaired',
    examples: [
      `${COMMAND} replay 7b0f6f2e-c6a5-11f0-8001-0242ac120002`,
      `${COMMAND} replay --from 2h --code unknown_device`,
    ],
    words: { usage: '[ID…]', rule: 'ids', least: 0, most: Number.POSITIVE_INFINITY },
    flags: FILTER,
  },
} satisfies Record<string, Omit<CommandLine, 'command'>>;

const GROUP: CommandGroup<typeof COMMANDS> = {
  command: COMMAND,
  help: 'Shows and replays messages that ingest refused, over the HTTP API. Each command answers --help.',
  examples: [`${COMMAND} summary`, `${COMMAND} list --from 2h`],
  commands: COMMANDS,
  settings: API_SETTINGS,
};

/** Epoch ms. The API knows how far ahead a clock may be, so it has the default of `to`. */
export type Range = { from: number; to: number | undefined };

export interface Arguments {
  command: keyof typeof COMMANDS;
  ids: string[];
  range: Range;
  filter: { code: string | undefined; device: string | undefined };
  limit: number;
}

/** `argv`: without node and script. @throws `usage`, `help` */
export function readArguments(argv: string[], now: number): Arguments {
  const { command, flags: given, words: ids } = parseGroup(GROUP, argv);
  const problems: string[] = [];
  const momentOf = (flag: 'from' | 'to') => {
    const moment = parseMoment(given[flag], now);
    if (moment === null) problems.push(`--${flag} is ISO 8601, or a duration such as 2h`);
    return moment ?? undefined;
  };
  const [from, to] = [momentOf('from'), momentOf('to')];
  // A replay requires ids or `--from`, so that nobody replays the whole last day by accident.
  if (command === 'replay' && (ids.length === 0) === (given['from'] === undefined))
    problems.push('replay takes ids of dead letters, or a range that begins with --from');
  if (from !== undefined && to !== undefined && from >= to) problems.push('--from is before --to');
  if (problems.length > 0) throw usageError(`${COMMAND} ${command}`, problems);
  const range = { from: from ?? Math.min(to ?? now, now) - DAY_MS, to };
  const filter = { code: given['code'], device: given['device'] };
  return { command, ids, range, filter, limit: given['limit'] ?? 0 };
}
