import type { z } from 'zod';
import { ApiClient } from '../../../../common/api-client.ts';
import { runCommand } from '../../../../common/command.ts';
import { readCommandSettings } from '../../../../common/dev-addresses.ts';
import { refusalText } from '../../../../common/errors.ts';
import { printable, shortened } from '../../../../common/printable.ts';
import { createStatusLine, type StatusLine } from '../../../../common/status-line.ts';
import { addCodes, type Codes, codesText } from '../codes.ts';
import type { SCHEMAS } from '../schemas.ts';
import { type Arguments, readArguments } from './arguments.ts';
import { replay } from './replay.ts';
import { countText, deadLettersOf, NOTHING, summaryOf } from './requests.ts';

export interface CommandParts {
  api: ApiClient;
  given: Arguments;
  print: (text: string) => void;
  statusLine: StatusLine;
}

/** A page has at most so many. */
const MAX_PER_PAGE = 1000;

async function list({ api, given: { range, filter, limit }, print }: CommandParts) {
  let shown = 0;
  const query = { ...range, ...filter, limit: Math.min(limit + 1, MAX_PER_PAGE) };
  for await (const { ts, id, topic, size, codes } of deadLettersOf(api, query)) {
    if (shown++ === limit) {
      return print(
        `These are the newest ${limit}. There are more: --limit shows more of them, --to shows older ones.`,
      );
    }
    const payload = size === null ? 'no payload' : `${size} bytes`;
    print([ts, id, shortened(topic), payload, codesText(codes)].join('  '));
  }
  if (shown === 0) print(NOTHING);
}

async function summary({ api, given, print }: CommandParts) {
  const sum: Codes = {};
  let total = 0;
  const { hours } = await summaryOf(api, given.range);
  for (const { hour, dead_letters, codes } of hours) {
    print(`${hour}  ${countText(dead_letters)}: ${codesText(codes)}`);
    total += dead_letters;
    addCodes(sum, codes);
  }
  print(total === 0 ? NOTHING : `in all  ${countText(total)}: ${codesText(sum)}`);
}

type DecodedDeadLetter = z.infer<typeof SCHEMAS.DecodedDeadLetter>;

async function show({ api, given, print }: CommandParts) {
  const path = `/dead-letters/${encodeURIComponent(String(given.ids[0]))}`;
  const { id, ts, device, topic, codes, refused, ...rest } = await api.call<DecodedDeadLetter>('GET', path);
  print(`id        ${id}`);
  print(`received  ${ts}`);
  print(`device    ${device === null ? 'several' : printable(device)}`);
  print(`topic     ${printable(topic)}`);
  print(`refused   ${codesText(codes)}`);
  for (const refusal of refused ?? []) {
    const text = refusalText(refusal);
    if (text) print(`          ${printable(text)}`);
  }
  const { decoded, content_type, size, payload_base64 } = rest;
  if (decoded === null) return print('payload   none: this dead letter only counts');
  if (content_type !== null) print(`type      ${printable(content_type)}`);
  const stored = Buffer.byteLength(payload_base64 ?? '', 'base64');
  const kept = stored === size ? '' : `, of which the first ${stored} are stored: it cannot be replayed`;
  print(`payload   ${size} bytes${kept}`);
  if (decoded.problem !== null) print(`          ${printable(decoded.problem)}`);
  for (const line of decoded.text && !decoded.elements ? decoded.text.split(/\r?\n/) : [])
    print(printable(line));
  for (const [index, { text }] of decoded.elements?.entries() ?? []) {
    const code = refused?.find((refusal) => refusal.index === index)?.code;
    const lines = text.split('\n').map(printable).join('\n');
    print(`[${index}] ${lines}${code ? `   <- ${code}` : ''}`);
  }
}

const COMMANDS = { list, summary, show, replay };

await runCommand(async () => {
  const given = readArguments(process.argv.slice(2), Date.now());
  const config = readCommandSettings('api');
  // The program that reads the output, such as head, may close the pipe early.
  process.stdout.on('error', () => process.exit());
  const statusLine = createStatusLine(process.stderr);
  const print = (text: string) => {
    statusLine.clear();
    process.stdout.write(`${text}\n`);
  };
  const api = new ApiClient(config, (text) => statusLine.update(text));
  try {
    await COMMANDS[given.command]({ api, given, print, statusLine });
  } finally {
    statusLine.clear();
  }
});
