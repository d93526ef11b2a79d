import { printable } from '../../common/printable.ts';

/** Without `pino-pretty`, which production does not install, it returns undefined and the log stays JSON lines. */
export async function prettyDestination(
  format: 'auto' | 'json',
  output: { isTTY?: boolean | undefined; write(text: string): unknown } = process.stdout,
): Promise<{ write(line: string): void } | undefined> {
  if (format === 'json' || !output.isTTY) return undefined;
  const pretty = await import('pino-pretty').catch(() => null);
  if (!pretty) return undefined;
  const prettify = pretty.prettyFactory({
    colorize: true,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'pid',
    singleLine: true,
  });
  return { write: (line) => void output.write(prettify(JSON.parse(line, asPrintable))) };
}

/** JSON escapes control characters, but a pretty line would send them to the terminal. */
function asPrintable(key: string, value: unknown) {
  if (typeof value !== 'string') return value;
  return key === 'stack' ? value.split('\n').map(printable).join('\n') : printable(value);
}
