import { readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { runCommand } from '../../../../common/command.ts';
import { readCommandSettings } from '../../../../common/dev-addresses.ts';
import { MillraceError, messageOf } from '../../../../common/errors.ts';
import { formatTime } from '../../../../common/times.ts';
import { DAY_MS } from '../../../../schema/rules.ts';
import { createReading } from '../../../history/reading/index.ts';
import { createLogger } from '../../../observability/index.ts';
import { connectStore, type Store } from '../../../store/index.ts';
import { type Backtest, createBacktest, MAX_SENSORS } from '../backtest.ts';
import { type Definition, newestOf, type Rule, RuleDefinition, toRule } from '../rules/rule.ts';
import { RuleRegistry } from '../rules/rule-registry.ts';
import { createAlarmRuleStore } from '../store/rules.ts';
import { createSubjects } from '../subjects.ts';
import { type Arguments, readArguments } from './arguments.ts';

type CommandParts = {
  store: Store;
  registry: RuleRegistry;
  given: Arguments;
  groups: number;
  historyDays: number;
  print: (text: string) => void;
};

async function list({ registry, print }: CommandParts) {
  print(stringify(registry.list().map((rule) => newestOf(rule).definition)).trimEnd());
}

async function apply({ registry, given, print }: CommandParts) {
  const wanted = readRules(given.file);
  const known: Map<string, Rule> = new Map();
  /** Rules that were made over HTTP may share a name; rules of a file may not. */
  const repeated: Rule[] = [];
  for (const rule of registry.list()) {
    const { name } = newestOf(rule).definition;
    if (known.has(name)) repeated.push(rule);
    else known.set(name, rule);
  }
  for (const definition of wanted) {
    const rule = known.get(definition.name);
    known.delete(definition.name);
    if (!rule) {
      await registry.add(definition, Date.now());
      print(`added    ${definition.name}`);
    } else if (JSON.stringify(newestOf(rule).definition) === JSON.stringify(definition)) {
      print(`same     ${definition.name}`);
    } else {
      await registry.replace(rule.id, definition, Date.now());
      print(`changed  ${definition.name}`);
    }
  }
  for (const rule of [...known.values(), ...repeated]) {
    if (given.prune) await registry.replace(rule.id, null, Date.now());
    print(`${given.prune ? 'removed' : 'kept   '}  ${newestOf(rule).definition.name}`);
  }
}

async function test({ store, groups, historyDays, given, print }: CommandParts) {
  const stopping = new AbortController();
  process.once('SIGINT', () => stopping.abort(new MillraceError('failed', 'Stopped before the end.')));
  const backtest = createBacktest({
    reading: createReading(store),
    subjects: createSubjects(store, groups),
    clock: Date.now,
  });
  const to = Date.now();
  // Retention has removed all older samples, so limit the days. A search for older samples would never end.
  const days = Math.min(given.days, historyDays);
  const from = to - days * DAY_MS;
  for (const definition of readRules(given.file)) {
    const row = {
      ruleId: '',
      version: 1,
      since: from,
      definition: JSON.stringify(definition),
      removed: false,
    };
    const found = await backtest(newestOf(toRule([row], Buffer.alloc(16))), { from, to }, stopping.signal);
    const rest = found.isPartial ? ` (the scope has more sensors; only ${MAX_SENSORS} were tested)` : '';
    const counts = `${counted(found.count, 'alarm')} of ${counted(found.sensors, 'sensor')}`;
    print(`${definition.name}: ${counts}, ${storedText(found, days)}${rest}`);
    for (const { subject, episode } of found.episodes) {
      const sensor = `${subject.device.name ?? subject.device.id}/${subject.sensor.name ?? subject.sensor.id}`;
      const end = episode.cleared === null ? 'open' : formatTime(episode.cleared);
      print(`  ${formatTime(episode.start)}  ${end}  ${sensor}  ${episode.peak ?? ''}`.trimEnd());
    }
    if (found.count > found.episodes.length) print(`  and ${found.count - found.episodes.length} more`);
    if (found.fewerAlarms) print(`  fewer alarms: ${suggestionText(found.fewerAlarms)}`);
    if (found.moreAlarms) print(`  more alarms: ${suggestionText(found.moreAlarms)}`);
  }
}

function storedText({ stored }: Backtest, days: number): string {
  if (!stored) return `and the last ${counted(days, 'day')} have no samples`;
  return `in samples from ${formatTime(stored.from)} to ${formatTime(stored.to)}`;
}

const suggestionText = ({ limit, count }: { limit: number; count: number }) =>
  `limit ${limit} gives ${counted(count, 'alarm')}`;

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

const COMMANDS = { list, apply, test };

const RULES = z.array(RuleDefinition);

/** @throws `failed` */
function readRules(file: string): Definition[] {
  try {
    const rules = RULES.parse(parse(readFileSync(file, 'utf8')));
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

// npm run alarms: it connects to the database with the settings of npm start, so it also works while no other process runs.
// Running processes read the changes within two seconds.
await runCommand(async () => {
  const given = readArguments(process.argv.slice(2));
  const { cql, retention } = readCommandSettings('database');
  // The program that reads the output, such as head, may close the pipe early.
  process.stdout.on('error', () => process.exit());
  const store = await connectStore({ cql, retention, observe: () => {}, onStaleIndex: () => {} });
  const logger = createLogger('silent');
  const registry = new RuleRegistry({
    store: createAlarmRuleStore(store.session),
    clock: Date.now,
    logger,
    everyMs: DAY_MS,
  });
  try {
    await registry.refresh();
    const print = (text: string) => void process.stdout.write(`${text}\n`);
    const { latestGroups: groups, historyDays } = retention;
    await COMMANDS[given.command]({ store, registry, given, groups, historyDays, print });
  } finally {
    await store.close();
  }
});
