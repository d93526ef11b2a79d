import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { ERRORS, type ErrorCode, MillraceError } from '../../common/errors.ts';
import { signalProcess } from '../engine/process/processes.ts';

const LINES_KEPT = 30;

/**
 * A process of Millrace in its own process group, so that Ctrl-C in the terminal does not reach it. Only this process stops its children,
 * in the right order. A child has an IPC channel, which closes when this process ends.
 */
export interface Child {
  /** null: it was stopped, or its exit code is 0; otherwise an error with its last output */
  exited: Promise<MillraceError | null>;
  /** null: the process runs, or has ended by itself */
  signal: NodeJS.Signals | null;
  /** sends SIGTERM, and kills the process after `withinMs` */
  stop: (options: { withinMs: number }) => Promise<void>;
  kill: () => void;
}

export function startChild(
  script: string,
  {
    title,
    args = [],
    nodeFlags = [],
    env,
    onLine,
  }: {
    title: string;
    args?: string[];
    nodeFlags?: string[];
    env: NodeJS.ProcessEnv;
    /** missing: the process writes to this terminal */
    onLine?: (line: string) => void;
  },
): Child {
  const output = onLine ? 'pipe' : 'inherit';
  const child = fork(script, args, {
    detached: true,
    env,
    execArgv: nodeFlags,
    stdio: ['ignore', output, output, 'ipc'],
  });
  const complaints: string[] = [];
  if (child.stdout && onLine) createInterface(child.stdout).on('line', onLine);
  if (child.stderr && onLine) {
    createInterface(child.stderr).on('line', (text) => {
      onLine(text);
      complaints.push(text);
      if (complaints.length > LINES_KEPT) complaints.shift();
    });
  }

  let stopping = false;
  const kill = () => {
    stopping = true;
    if (child.pid) signalProcess(-child.pid, 'SIGKILL');
  };
  // `close` follows `exit`, when all output has been read.
  const exited = once(child, 'close').then(([code, signal]) =>
    stopping || code === 0 ? null : explain(title, { code, signal, complaints }),
  );
  return {
    exited,
    get signal() {
      return child.signalCode;
    },
    kill,
    stop: async ({ withinMs }) => {
      stopping = true;
      if (child.pid) signalProcess(child.pid, 'SIGTERM');
      const late = setTimeout(kill, withinMs);
      await exited;
      clearTimeout(late);
    },
  };
}

/** The error code matches the exit code. */
function explain(
  title: string,
  { code, signal, complaints }: { code: number | null; signal: string | null; complaints: string[] },
): MillraceError {
  const entry = Object.entries(ERRORS).find(([, error]) => 'exit' in error && error.exit === code);
  const name = (entry?.[0] ?? 'failed') as ErrorCode;
  const how = signal ? `was ended by ${signal}` : `ended with exit code ${code}`;
  return new MillraceError(name, [`The ${title} ${how}.`, ...complaints].join('\n'));
}
