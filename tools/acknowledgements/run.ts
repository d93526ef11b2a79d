import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Disk } from './disk.ts';
import { Publisher } from './publisher.ts';
import { type Scenario, startAll, stopAll } from './scenarios.ts';
import { Sink } from './sink.ts';
import type { SubjectKind } from './subjects.ts';

export type Outcome = { acknowledged: number; lost: number; refused: number; heldBack: boolean };

type Place = { dir: string; tools: string; onStatus: (text: string) => void };

/**
 * Each run has its own programs and data.
 * @param place `dir` is emptied, and keeps the trace and the logs
 * @returns a text: why it could not run
 */
export async function runScenario(
  kind: SubjectKind,
  { needs, act }: Scenario,
  { dir, tools, onStatus }: Place,
): Promise<Outcome | string> {
  await rm(dir, { recursive: true, force: true });
  await mkdir(dir, { recursive: true });
  const file = createWriteStream(join(dir, 'trace.txt'));
  const began = performance.now();
  const trace = (line: string) => file.write(`${((performance.now() - began) / 1000).toFixed(3)} ${line}\n`);
  const disk = await Disk.create(dir);
  const ends: Array<() => unknown> = [() => file.end(), () => disk?.remove()];
  try {
    if (needs === 'disk' && !disk) return 'skipped: needs root on Linux';
    const subject = await kind.prepare({ data: join(dir, 'disk'), logs: dir, tools, onStatus });
    if (needs === 'consumer' && !subject.parts.consumer) return '–';
    const publisher = new Publisher(subject, trace);
    const sink = new Sink(subject, trace);
    ends.push(
      () => stopAll(subject),
      () => sink.close(),
      () => publisher.close(),
    );
    await startAll(subject);
    await sink.back();
    await act({ subject, publisher, sink, disk, trace });
    const { acknowledged, refused, heldBack } = publisher;
    trace('waiting for the last messages');
    const received = await sink.collect(acknowledged);
    const lost = [...acknowledged].filter((number) => !received.has(number));
    trace(`acknowledged ${acknowledged.size}, lost ${lost.length}: ${lost.join(' ')}`);
    return { acknowledged: acknowledged.size, lost: lost.length, refused, heldBack };
  } catch (error) {
    trace(`${error instanceof Error ? error.stack : error}`);
    return `failed: ${(error as Error).message.split('\n')[0]}`;
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

export function verdictOf(outcome: Outcome | string): string {
  if (typeof outcome === 'string') return outcome;
  const { acknowledged, lost, refused, heldBack } = outcome;
  const first = lost > 0 ? `**lost ${lost}** of ${acknowledged}` : `kept ${acknowledged}`;
  return [first, refused > 0 && `refused ${refused}`, heldBack && 'held back'].filter(Boolean).join(', ');
}
