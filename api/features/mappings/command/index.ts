import { existsSync, readFileSync } from 'node:fs';
import { runCommand } from '../../../../common/command.ts';
import { MillraceError, messageOf, refusalText } from '../../../../common/errors.ts';
import { usageError } from '../../../../common/flags.ts';
import { printable } from '../../../../common/printable.ts';
import { readSetting } from '../../../../common/settings/index.ts';
import { formatTime } from '../../../../common/times.ts';
import { DAY_MS } from '../../../../schema/rules.ts';
import { MessageDecoder } from '../../../ingest/decode/index.ts';
import { contractTopics } from '../../index.ts';
import type { ParsedMessage } from '../mapping.ts';
import { expandPreset, Mapping, Mappings, proposeMapping, readMappings, readPresets } from '../mappings.ts';
import { readArguments } from './arguments.ts';

/** Limit of values that `test` prints. */
const MAX_PRINTED = 200;

const print = (text: string) => process.stdout.write(`${text}\n`);

// npm run mappings: it reads only files, and needs no database.
await runCommand(async () => {
  const { command, flags, words } = readArguments(process.argv.slice(2));
  // The program that reads the output, such as head, may close the pipe early.
  process.stdout.on('error', () => process.exit());
  if (command === 'list') list(words[0]);
  else if (command === 'show') print(presetOf(String(words[0])).text.trimEnd());
  else testMessage(String(words[0]), flags);
});

function list(path: string | undefined) {
  const groups = path
    ? [{ title: path, mappings: readMappings(path) }]
    : readPresets().map((preset) => ({
        title: `${preset.name}: ${preset.title}`,
        mappings: expandPreset(preset).map((spec) => new Mapping(spec)),
      }));
  for (const { title, mappings } of groups) {
    print(title);
    for (const mapping of mappings) {
      const kind = mapping.isSkipped ? 'skipped' : mapping.isDescription ? 'describes sensors' : 'values';
      for (const { text } of mapping.patterns) print(`  ${text}  ${mapping.name}, ${kind}`);
    }
  }
}

/**
 * `source`: path of a file, or name of a preset.
 * @throws `usage`, `bad_settings`, and `failed` if a part of the message would not be stored
 */
function testMessage(source: string, { topic, payload }: { topic?: string; payload?: string }) {
  const problems = [];
  if (topic === undefined) problems.push('test takes --topic');
  if (payload === undefined) problems.push('test takes --payload');
  if (topic === undefined || payload === undefined) throw usageError('npm run mappings -- test', problems);
  const mappings = existsSync(source) ? Mappings.load(source) : new Mappings(mappingsOf(source));
  const bytes = bytesOf(payload);
  if (contractTopics().parse(topic)) {
    throw new MillraceError('failed', `${printable(topic)} is a topic of Millrace, so no mapping reads it.`);
  }
  const match = mappings.match(topic);
  if (!match) {
    const proposal = proposeMapping(topic, bytes);
    const hint = proposal === null ? '' : `\nA mapping that you could add:\n\n${proposal}`;
    throw new MillraceError('failed', `No mapping reads the topic ${printable(topic)}.${hint}`);
  }
  print(`mapping  ${match.mapping.name}`);
  const opened = match.mapping.open(match.levels, bytes);
  if (!opened) {
    print('skipped  the mapping leaves this message out');
    return;
  }
  print(`device   ${printable(opened.device)}`);
  if (match.mapping.isDescription) printDescription(match.mapping, opened);
  else printValues(match.mapping, opened);
}

function printDescription(mapping: Mapping, opened: ParsedMessage) {
  const description = mapping.describe(opened);
  if (!description) throw new MillraceError('failed', 'The message names no sensor.');
  const { sensor, unit, type } = description;
  print(
    `sensor   ${printable(sensor)}${unit ? `, unit ${printable(unit)}` : ''}${type ? `, type ${printable(type)}` : ''}`,
  );
}

/** @throws `failed` if a value is refused */
function printValues(mapping: Mapping, opened: ParsedMessage) {
  const decoder = new MessageDecoder({
    historyMs: readSetting('HISTORY_DAYS') * DAY_MS,
    maxClockSkewMs: readSetting('MAX_CLOCK_SKEW'),
    relativeTimes: readSetting('RELATIVE_TIMES'),
  });
  const receivedAt = Date.now();
  const batch = decoder.emptyBatch(receivedAt);
  const described = mapping.read(opened, batch);
  const rows = [...batch.sensors].flatMap(([sensor, { times, values }]) =>
    times.map((ts, index) => {
      const { unit = '', type = '' } = described.get(sensor) ?? {};
      const time = ts === receivedAt ? 'time of receipt' : formatTime(Number(ts));
      return [printable(sensor), `${values[index]} ${printable(unit)}`.trim(), time, printable(type)];
    }),
  );
  for (const line of table([['sensor', 'value', 'time', 'type'], ...rows.slice(0, MAX_PRINTED)])) print(line);
  if (rows.length > MAX_PRINTED) print(`and ${rows.length - MAX_PRINTED} more`);
  if (batch.counts.skipped > 0) print(`skipped  ${batch.counts.skipped}: no numbers, or invalid numbers`);
  for (const refusal of batch.refused) print(`refused  ${refusal.code}  ${printable(refusalText(refusal))}`);
  if (batch.refused.length > 0) {
    throw new MillraceError(
      'failed',
      'Refused values would become a dead letter. The others would be stored.',
    );
  }
}

function table(rows: string[][]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** @throws `usage` */
function presetOf(name: string) {
  const presets = readPresets();
  const preset = presets.find((each) => each.name === name);
  if (preset) return preset;
  const names = presets.map((each) => each.name).join(', ');
  throw usageError('npm run mappings --', [`${name} is neither a file nor a preset: ${names}`]);
}

function mappingsOf(preset: string): Mapping[] {
  return expandPreset(presetOf(preset)).map((spec) => new Mapping(spec));
}

/** `-` reads standard input, `@` a file. @throws `failed` */
function bytesOf(payload: string): Buffer {
  if (payload !== '-' && !payload.startsWith('@')) return Buffer.from(payload);
  try {
    return readFileSync(payload === '-' ? 0 : payload.slice(1));
  } catch (error) {
    throw new MillraceError('failed', `The payload cannot be read: ${messageOf(error)}`);
  }
}
