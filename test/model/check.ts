import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findTools } from '../../infra/bootstrap/index.ts';
import type { System } from './clauses.ts';

const run = promisify(execFile);

const MODEL = fileURLToPath(new URL('history.pml', import.meta.url));

/** In MiB, of the verifier. */
const MAX_MEMORY = 4096;

export interface Event {
  /** `ingest 1`, `packer 2`, `database`, `reader` or `time` */
  actor: string;
  text: string;
  /** a set of samples, or the reading of a clock */
  value: number;
}

export interface Checked {
  states: number;
  seconds: number;
  /** the shortest way to a wrong answer; null: there is none */
  counterexample: Event[] | null;
}

/**
 * Tries all orders of steps.
 * @param clause taken out of the model; null: the whole rule
 * @throws {Error} when the verifier ends early, or has not visited all states
 */
export async function check(
  clause: string | null,
  { passes, end, small, messages }: System,
  signal?: AbortSignal,
): Promise<Checked> {
  const { spin, gcc } = await findTools(['spin', 'gcc']);
  const cwd = await mkdtemp(join(tmpdir(), 'millrace-model-'));
  const options = { cwd, signal, maxBuffer: 64 * 2 ** 20 };
  const subset = [small && '-DSMALL', messages && '-DMESSAGES', clause && `-DNO_${clause}`];
  const defines = [`-DPASSES=${passes}`, `-DEND=${end}`, ...subset];
  const model = [...defines.filter((each) => typeof each === 'string'), 'history.pml'];
  try {
    await cp(MODEL, join(cwd, 'history.pml'));
    await run(String(spin?.path), ['-a', ...model], options);
    // Breadth first, because the first counterexample is then the shortest.
    const flags = ['-O2', '-DSAFETY', '-DBFS', '-DNOREDUCE', `-DMEMLIM=${MAX_MEMORY}`];
    await run(String(gcc?.path), [...flags, '-o', 'pan', 'pan.c'], options);
    const began = performance.now();
    const { stdout } = await run(join(cwd, 'pan'), ['-E'], options);
    const seconds = (performance.now() - began) / 1000;
    const errors = Number(/errors: (\d+)/.exec(stdout)?.[1]);
    const states = Number(/(\d+) states, stored/.exec(stdout)?.[1]);
    if (errors === 0) {
      if (/Search not completed|out of memory|max search depth/.test(stdout) || !(states > 0))
        throw new Error(`Not all states were visited:\n${stdout.slice(-2000)}`);
      return { states, seconds, counterexample: null };
    }
    if (!/assertion violated/.test(stdout)) throw new Error(stdout.slice(-2000));
    const trail = await run(String(spin?.path), ['-t', ...model], options);
    return { states, seconds, counterexample: eventsOf(trail.stdout) };
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

const eventsOf = (output: string): Event[] =>
  [...output.matchAll(/^\s*@([^|]+)\|([^|]+)\|(\d+)$/gm)].map(([, actor = '', text = '', value]) => ({
    actor,
    text,
    value: Number(value),
  }));
