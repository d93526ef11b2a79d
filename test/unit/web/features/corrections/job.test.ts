import { expect, jest, test } from '@jest/globals';
import { signal } from '@preact/signals';
import { Problem } from '../../../../../web/api/request.ts';
import { createJobs } from '../../../../../web/features/corrections/job.ts';
import { until } from '../../../../support/until.ts';

type Deps = Parameters<typeof createJobs>[0];

const SIGNED_IN = { isOut: false, hasEnded: false };

function createRig() {
  const session = signal(SIGNED_IN);
  const historyChanges = signal(0);
  const window = new EventTarget();
  Object.assign(globalThis, { window });
  const jobs = createJobs({ session: { state: session }, live: { historyChanges } } as unknown as Deps);
  /** @returns whether the browser would ask before the page closes */
  const asks = () => !window.dispatchEvent(new Event('beforeunload', { cancelable: true }));
  const untilState = (state: string) => until(() => jobs.state.value?.state === state, { what: state });
  return { jobs, session, historyChanges, asks, untilState };
}

test('Correction job: the second part fails: Continue prepares nothing again, and sends the failed part and the rest', async () => {
  const { jobs, historyChanges, asks, untilState } = createRig();
  const sent: string[] = [];
  let isBroken = true;
  const part = (name: string) => async () => {
    sent.push(name);
    if (name === 'b' && isBroken) throw new Problem({ title: 'broken', code: 'unreachable' });
    return 10;
  };
  const prepare = jest.fn(async () => ['a', 'b', 'c'].map(part));
  jobs.start({ title: 'Multiply', past: 'replaced', prepare });
  expect(asks()).toBe(true);
  await untilState('stopped');
  expect(jobs.state.value).toMatchObject({ done: 1, samples: 10, problem: { code: 'unreachable' } });
  expect(historyChanges.value).toBe(1);
  // Without the computed values, another correction would compute from values that are corrected already.
  expect(asks()).toBe(true);
  isBroken = false;
  jobs.resume();
  await untilState('done');
  expect(sent).toEqual(['a', 'b', 'b', 'c']);
  expect(prepare).toHaveBeenCalledTimes(1);
  expect(jobs.state.value).toMatchObject({ done: 3, samples: 30, problem: null });
  expect(asks()).toBe(false);
});

test('Correction job: the user stops it: the running part is aborted, and no other is sent', async () => {
  const { jobs, untilState } = createRig();
  const second = jest.fn(async () => 1);
  const first = (abort: AbortSignal) =>
    new Promise<number>((_, reject) => abort.addEventListener('abort', () => reject(abort.reason)));
  jobs.start({ title: 'Remove', past: 'removed', prepare: async () => [first, second] });
  await until(() => jobs.state.value?.parts !== null, { what: 'the parts' });
  jobs.discard();
  expect(jobs.state.value?.state).toBe('running');
  jobs.stop();
  await untilState('stopped');
  expect(jobs.state.value?.problem).toBeNull();
  expect(second).not.toHaveBeenCalled();
  jobs.discard();
  expect(jobs.state.value).toBeNull();
});

test('Correction job: the user signs out: it is aborted, and the next user does not see it', async () => {
  const { jobs, session } = createRig();
  let isAborted = false;
  const part = (abort: AbortSignal) =>
    new Promise<number>((_, reject) =>
      abort.addEventListener('abort', () => {
        isAborted = true;
        reject(abort.reason);
      }),
    );
  jobs.start({ title: 'Remove', past: 'removed', prepare: async () => [part] });
  await until(() => jobs.state.value?.parts !== null, { what: 'the parts' });
  session.value = { isOut: true, hasEnded: false };
  expect(isAborted).toBe(true);
  expect(jobs.state.value).toBeNull();
});
