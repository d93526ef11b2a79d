import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Disk } from './disk.ts';
import { Publisher } from './publisher.ts';
import { type Run, startAll, stopAll } from './scenarios.ts';
import type { Prepare, Subject } from './subjects.ts';

export type Outcome = { acknowledged: number; lost: number; refused: number; heldBack: boolean };

type RunOptions = { dir: string; tools: string; onStatus: (text: string) => void; signal: AbortSignal };

/** After this time without another message no more is expected. NATS repeats a message after 30 s. Another process of Millrace writes a journal within 30 s. */
const QUIET_MS = 40_000;
const POLL_MS = 200;

/**
 * Each run has its own programs and data.
 * @param options `dir` is emptied, and keeps the trace and the logs
 */
export async function runScenario(
  prepare: Prepare,
  scenario: (run: Run) => Promise<void>,
  { dir, signal, ...options }: RunOptions,
): Promise<Outcome> {
  await rm(dir, { recursive: true, force: true });
  await mkdir(dir, { recursive: true });
  const file = createWriteStream(join(dir, 'trace.txt'));
  const began = performance.now();
  const trace = (line: string) => file.write(`${((performance.now() - began) / 1000).toFixed(3)} ${line}\n`);
  const disk = await Disk.create(dir);
  const ends: Array<() => unknown> = [() => file.end(), () => disk.remove()];
  try {
    const subject = await prepare({ ...options, disk, logs: dir, trace });
    const publisher = new Publisher(subject, { trace, signal });
    ends.push(
      () => stopAll(subject),
      () => publisher.close(),
    );
    await startAll(subject);
    await scenario({ ...subject, publisher, disk, trace, signal });
    const { acknowledged, refused, heldBack } = publisher;
    const lost = await findLost(subject, acknowledged, signal);
    trace(`acknowledged ${acknowledged.size}, lost ${lost.length}: ${lost.join(' ')}`);
    return { acknowledged: acknowledged.size, lost: lost.length, refused, heldBack };
  } catch (error) {
    trace(String((error as Error).stack));
    throw error;
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

/** @returns acknowledged messages that have not arrived when no more comes */
async function findLost({ received }: Subject, acknowledged: Set<number>, signal: AbortSignal) {
  let arrived = 0;
  for (let since = Date.now(); ; await sleep(POLL_MS, null, { signal })) {
    const now = new Set(await received().catch(() => []));
    const lost = [...acknowledged].filter((number) => !now.has(number));
    if (now.size !== arrived) since = Date.now();
    arrived = now.size;
    if (lost.length === 0 || Date.now() - since > QUIET_MS) return lost;
  }
}

export function verdictOf({ acknowledged, lost, refused, heldBack }: Outcome): string {
  const first = lost > 0 ? `**lost ${lost}** of ${acknowledged}` : `kept ${acknowledged}`;
  return [first, refused > 0 && `refused ${refused}`, heldBack && 'held back'].filter(Boolean).join(', ');
}
