import { createWriteStream } from 'node:fs';
import { printable } from '../../common/printable.ts';
import { beginLog } from '../engine/process/log.ts';

/** The number of level `warn` in pino. */
const WARN = 40;
const REPEAT_MS = 10_000;
const SHOWN_CHARACTERS = 200;
/** Limited, because each request may cause a new text. */
const MAX_REMEMBERED = 1000;

/** Writes the log of the API to a file, and prints a short form of its warnings and errors. */
export function createApiLog(
  path: string,
  { print }: { print: (text: string) => void },
): { write: (line: string) => void; close: () => void } {
  const file = createWriteStream(path, { fd: beginLog(path) });
  /** Epoch ms. A text that repeats a thousand times a second is shown once in 10 s. */
  const shownAt: Map<string, number> = new Map();
  return {
    write(line) {
      file.write(`${line}\n`);
      const text = summarize(line);
      if (text === null) return;
      const now = Date.now();
      if (now - (shownAt.get(text) ?? 0) < REPEAT_MS) return;
      if (shownAt.size >= MAX_REMEMBERED) shownAt.clear();
      shownAt.set(text, now);
      print(text);
    },
    close: () => void file.end(),
  };
}

/** @returns null: the line is not printed */
export function summarize(line: string): string | null {
  const entry = parse(line);
  if (!entry || !(Number(entry.level) >= WARN)) return null;
  const sign = Number(entry.level) > WARN ? '✗' : '!';
  const cause = entry.err?.message && entry.err.message !== entry.msg ? `: ${entry.err.message}` : '';
  return printable(`${sign} ${entry.msg ?? ''}${cause}${callerOf(entry)}`.replaceAll(/\s+/g, ' ')).slice(
    0,
    SHOWN_CHARACTERS,
  );
}

function callerOf({ account, address }: { account?: string; address?: string }): string {
  const words = [account && `account ${account}`, address && `from ${address}`].filter(Boolean);
  return words.length > 0 ? ` (${words.join(', ')})` : '';
}

type Entry = { level?: number; msg?: string; err?: { message?: string }; account?: string; address?: string };

function parse(line: string): Entry | null {
  if (!line.startsWith('{')) return null;
  try {
    return JSON.parse(line);
  } catch {
    return null; // The line is not from pino. The file contains the line unchanged.
  }
}
