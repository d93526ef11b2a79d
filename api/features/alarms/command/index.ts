import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { ApiClient } from '../../../../common/api-client.ts';
import { runCommand } from '../../../../common/command.ts';
import { readCommandSettings } from '../../../../common/dev-addresses.ts';
import { MillraceError, messageOf } from '../../../../common/errors.ts';
import { DAY_MS } from '../../../../schema/rules.ts';
import { type Definition, RuleDefinition } from '../rules/rule.ts';
import type { SCHEMAS } from '../schemas.ts';
import { type Arguments, readArguments } from './arguments.ts';

type CommandParts = { api: ApiClient; given: Arguments; print: (text: string) => void };
type AlarmRule = z.infer<typeof SCHEMAS.AlarmRule>;
type Backtest = z.infer<typeof SCHEMAS.Backtest>;

const RULES = '/alarm-rules';

const rulesOf = async (api: ApiClient) => (await api.call<{ items: AlarmRule[] }>('GET', RULES)).items;

const definitionOf = ({ rule_id, version, since, ...definition }: AlarmRule): Definition => definition;

async function list({ api, print }: CommandParts) {
  print(stringify((await rulesOf(api)).map(definitionOf)).trimEnd());
}

async function apply({ api, given, print }: CommandParts) {
  const wanted = readRules(given.file);
  const known: Map<string, AlarmRule> = new Map();
  /** Rules that were made over HTTP may share a name; rules of a file may not. */
  const repeated: AlarmRule[] = [];
  for (const rule of await rulesOf(api)) {
    if (known.has(rule.name)) repeated.push(rule);
    else known.set(rule.name, rule);
  }
  for (const definition of wanted) {
    const rule = known.get(definition.name);
    known.delete(definition.name);
    if (!rule) {
      await api.call('POST', RULES, { body: definition });
      print(`added    ${definition.name}`);
    } else if (isDeepStrictEqual(definitionOf(rule), definition)) {
      print(`same     ${definition.name}`);
    } else {
      await api.call('PUT', `${RULES}/${rule.rule_id}`, { body: definition });
      print(`changed  ${definition.name}`);
    }
  }
  for (const { rule_id, name } of [...known.values(), ...repeated]) {
    if (given.prune) await api.call('DELETE', `${RULES}/${rule_id}`);
    print(`${given.prune ? 'removed' : 'kept   '}  ${name}`);
  }
}

async function test({ api, given, print }: CommandParts) {
  for (const body of readRules(given.file)) {
    const found = await api.call<Backtest>('POST', `${RULES}/test`, {
      query: { from: `-${given.days}d` },
      body,
    });
    const { items, count, fewer_alarms: fewer, more_alarms: more } = found;
    const rest = found.partial ? ` (the scope has more sensors; only ${found.sensors} were tested)` : '';
    const counts = `${counted(count, 'alarm')} of ${counted(found.sensors, 'sensor')}`;
    print(`${body.name}: ${counts}, ${storedText(found)}${rest}`);
    for (const item of items) {
      const sensor = `${item.device ?? item.device_id}/${item.sensor ?? item.sensor_id}`;
      const end = item.cleared_at ?? 'open';
      print(`  ${item.started_at}  ${end}  ${sensor}  ${item.peak ?? ''}`.trimEnd());
    }
    if (count > items.length) print(`  and ${count - items.length} more`);
    if (fewer) print(`  fewer alarms: ${suggestionText(fewer)}`);
    if (more) print(`  more alarms: ${suggestionText(more)}`);
  }
}

function storedText({ stored_from, stored_to, from, to }: Backtest): string {
  if (stored_from !== null) return `in samples from ${stored_from} to ${stored_to}`;
  // The API reads no further back than the retention of history.
  const days = Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);
  return `and the last ${counted(days, 'day')} have no samples`;
}

const suggestionText = ({ limit, count }: { limit: number; count: number }) =>
  `limit ${limit} gives ${counted(count, 'alarm')}`;

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

const COMMANDS = { list, apply, test };

/** @throws `failed` */
function readRules(file: string): Definition[] {
  try {
    const rules = z.array(RuleDefinition).parse(parse(readFileSync(file, 'utf8')));
    const names = new Set(rules.map(({ name }) => name));
    if (names.size < rules.length)
      throw new MillraceError('failed', 'Two rules of the file have the same name.');
    return rules;
  } catch (error) {
    if (error instanceof MillraceError) throw error;
    const message = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error);
    throw new MillraceError('failed', `${file}: ${message}`, { cause: error });
  }
}

await runCommand(async () => {
  const given = readArguments(process.argv.slice(2));
  const api = new ApiClient(readCommandSettings('api'), console.error);
  // The program that reads the output, such as head, may close the pipe early.
  process.stdout.on('error', () => process.exit());
  const print = (text: string) => void process.stdout.write(`${text}\n`);
  await COMMANDS[given.command]({ api, given, print });
});
