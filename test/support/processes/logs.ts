import pino from 'pino';
import type { Json } from '../json.ts';

/** A logger whose lines a test can read. @param level the lowest level that is logged (default `info`) */
export function createLogs(level: string = 'info') {
  const lines: Array<{ level: number; msg: string; [key: string]: Json }> = [];
  const logger = pino({ level }, { write: (line) => void lines.push(JSON.parse(line)) });
  return { logger, lines };
}
