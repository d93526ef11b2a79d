import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { startChild } from '../../../../infra/dev/child.ts';
import { restartWhenKilled } from '../../../../infra/dev/restart-when-killed.ts';
import { useDirectory } from '../../../support/directory.ts';

const folder = useDirectory('keep');
beforeAll(async () => {
  await writeFile(join(folder, 'killed.js'), "process.kill(process.pid, 'SIGKILL');");
  await writeFile(join(folder, 'broken.js'), 'process.exit(3);');
  await writeFile(join(folder, 'done.js'), '');
  await writeFile(join(folder, 'waits.js'), 'setInterval(() => {}, 1000);');
});

function keep(script: string) {
  const notified: [signal: string, again: boolean][] = [];
  let starts = 0;
  const kept = restartWhenKilled(
    () => {
      starts++;
      return startChild(join(folder, script), { title: 'part', env: process.env, onLine: () => {} });
    },
    // The time that a start takes on a busy machine must not count as a steady run.
    { onKilled: (...what) => void notified.push(what), clock: () => 0 },
  );
  return { kept, notified, starts: () => starts };
}

test('npm run dev: a child process is killed twice in a short time: restarted once, then given up', async () => {
  const { kept, notified, starts } = keep('killed.js');
  expect(await kept.exited).toBeNull();
  expect(notified).toEqual([
    ['SIGKILL', true],
    ['SIGKILL', false],
  ]);
  expect(starts()).toBe(2);
});

test.each(['stop', 'kill'])('npm run dev: child process ended by %s(): not restarted', async (how) => {
  const { kept, notified, starts } = keep('waits.js');
  if (how === 'stop') await kept.stop({ withinMs: 5000 });
  else kept.kill();
  expect(await kept.exited).toBeNull();
  expect([notified, starts()]).toEqual([[], 1]);
});
