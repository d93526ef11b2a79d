import { expect, test } from '@jest/globals';
import pino from 'pino';
import { Admission } from '../../../../api/ingest/admission/index.ts';
import { ClockGuard } from '../../../../api/store/clock-guard.ts';
import { useCleanUps } from '../../../support/clean-ups.ts';

const HOUR_MS = 3_600_000;
const BUDGET_BYTES = 64 * 1024 * 1024;

const afterwards = useCleanUps();

type Handle = () => Promise<string>;

/** Admission with a clock that the test may falsify. `ended` has the result of each message. */
async function open() {
  let wrongMs = 0;
  const clockGuard = new ClockGuard({
    clock: () => Date.now() + wrongMs,
    difference: async () => wrongMs,
    logger: pino({ level: 'silent' }),
    periods: { trusted: 10_000, distrusted: 1 },
  });
  await clockGuard.start();
  afterwards(() => clockGuard.stop());
  const admission = new Admission({ clockGuard, answeredAt: () => 0 });
  const ended: Array<string | undefined> = [];
  const handlingOf = (handle: Handle) => ({
    handle,
    refuse: async (_message: unknown, error: unknown) => `refused: ${(error as Error).message}`,
    end: (_message: unknown, result: string | undefined) => void ended.push(result),
  });
  return {
    admission,
    ended,
    handlingOf,
    setClock(ms: number) {
      wrongMs = ms;
    },
  };
}

const messageOf = (bytes = 10) => ({ payload: Buffer.alloc(bytes), receivedAt: Date.now() });

test.each([
  ['succeeds', async () => 'done', 'done'],
  ['fails', () => Promise.reject(new Error('later')), 'refused: later'],
  [
    'throws at once',
    () => {
      throw new Error('at once');
    },
    'refused: at once',
  ],
] as Array<[string, Handle, string]>)(
  'Admission of a message: handler %s: the message ends once, and its bytes are released from the budget',
  async (_, handle, outcome) => {
    const { admission, ended, handlingOf } = await open();
    expect(await admission.admit(messageOf(), handlingOf(handle))).toBe(outcome);
    expect(ended).toEqual([outcome]);
    expect(admission.budget.used).toBe(0);
  },
);

test('Admission of a message: no refuse function is given: admit() rejects with the error, and the budget is released', async () => {
  const { admission } = await open();
  const handle = () => {
    throw new Error('at once');
  };
  await expect(admission.admit(messageOf(), { handle })).rejects.toThrow('at once');
  expect(admission.budget.used).toBe(0);
});

test('Admission of a message: two messages wait for budget, one at a wrong clock: both begin in order of arrival', async () => {
  const { admission, handlingOf, setClock } = await open();
  let settle = () => {};
  const settled = new Promise((resolve) => {
    settle = () => resolve('done');
  });
  const large = admission.admit(messageOf(BUDGET_BYTES), { handle: () => settled });
  const begun: string[] = [];
  const admit = (name: string) => {
    const handle = async () => {
      begun.push(name);
      return name;
    };
    return admission.admit(messageOf(), handlingOf(handle));
  };
  setClock(HOUR_MS);
  const first = admit('first');
  setClock(0);
  const second = admit('second');
  settle();
  expect(await Promise.all([large, first, second])).toEqual(['done', 'first', 'second']);
  expect(begun).toEqual(['first', 'second']);
  expect(admission.budget.used).toBe(0);
});
