/**
 * Runs unit test files in this process, one after the other, and stops at the first failure: `node run.ts FILE...`, with an IPC channel to
 * the parent. The exit code is 1 after a failure.
 */
export type RunnerMessage =
  | { kind: 'passed' | 'failed'; title: string; error?: string }
  | { kind: 'file'; file: string }
  | { kind: 'done' };

import { register } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { addEventHandler, type Event, getState, resetState, run, setState } from 'jest-circus';
import { restoreGlobals } from '../../support/unit-runner/globals.ts';

// Random values are the same for each mistake, so that a result can be repeated.
fc.configureGlobal({ seed: 1 });

const send = (message: RunnerMessage) => void (process.send ? process.send(message) : console.log(message));

/** Settles when the parent has received the message. Fake timers must be removed first, or it never settles. */
function sendLast(message: RunnerMessage) {
  restoreGlobals();
  return new Promise((sent) => (process.send ? process.send(message, sent) : sent(console.log(message))));
}

async function fail(title: string, error: unknown) {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  await sendLast({ kind: 'failed', title, error: text.slice(0, 2000) });
  process.exit(1);
}

async function onEvent(event: Event) {
  if (event.name !== 'test_done') return;
  const [error] = event.test.errors.flat();
  if (error) await fail(event.test.name, error);
  send({ kind: 'passed', title: event.test.name });
}

register('../../support/unit-runner/hooks.ts', import.meta.url);

addEventHandler(onEvent as never);
// The channel closes when the parent is killed. It must not keep the process alive when a test waits without end.
process.once('disconnect', () => process.exit(1));
process.channel?.unref();
for (const file of process.argv.slice(2)) {
  resetState();
  // The parent limits the time of a test.
  setState({ ...getState(), testTimeout: 600_000 });
  send({ kind: 'file', file });
  await import(pathToFileURL(resolve(file)).href).catch((error) => fail('(import)', error));
  const { testResults, unhandledErrors } = await run();
  const [error] = [...unhandledErrors, ...testResults.flatMap(({ errors }) => errors)];
  if (error) await fail('(outside a test)', error);
  restoreGlobals();
}
await sendLast({ kind: 'done' });
// Handles that a test left open must not keep the process alive.
process.exit(0);
