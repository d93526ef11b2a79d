import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const SHOWN_EVERY_MS = 500;
const LINES_KEPT = 60;
const LINES_SHOWN = 12;

/**
 * Runs a program and shows its progress: the title, the elapsed seconds, and the last line of output.
 * @throws {Error} when the program fails or cannot start; the message has the last lines of output
 */
export async function runShown(
  program: string,
  args: string[],
  {
    title,
    onStatus,
    describe = (line) => line,
    env,
    cwd,
    signal,
  }: {
    title: string;
    onStatus: (text: string) => void;
    /** maps a line of output to a progress text; null: the line shows no progress */
    describe?: (line: string) => string | null;
    env?: NodeJS.ProcessEnv;
    cwd?: string;
    signal?: AbortSignal;
  },
) {
  const began = Date.now();
  const last: string[] = [];
  let doing = '';
  const show = () =>
    onStatus(`${title} · ${Math.round((Date.now() - began) / 1000)} s${doing ? ` · ${doing}` : ''}`);

  const child = spawn(program, args, { env, cwd, signal, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr]) {
    createInterface(stream).on('line', (line) => {
      const progress = describe(line);
      if (progress !== null) doing = progress;
      if (progress === null || progress === line) last.push(line);
      if (last.length > LINES_KEPT) last.shift();
    });
  }
  show();
  const timer = setInterval(show, SHOWN_EVERY_MS);
  try {
    const code = await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    if (code !== 0) throw new Error(`${program} ${args.join(' ')} failed:\n${reasons(last).join('\n')}`);
  } finally {
    clearInterval(timer);
  }
}

/** @returns the first error and the lines after it, which hold advice; otherwise the last lines */
function reasons(lines: string[]): string[] {
  const first = lines.findIndex((line) => /\berror\b|^E:/i.test(line));
  return first === -1 ? lines.slice(-LINES_SHOWN) : lines.slice(first, first + LINES_SHOWN);
}
