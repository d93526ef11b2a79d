import { expect, test } from '@jest/globals';
import { askRegistry } from '../../../../infra/bootstrap/registry.ts';

/** @param failures before the first success */
function failing(failures: Error[]) {
  const calls = { count: 0 };
  const task = async () => {
    const failure = failures[calls.count++];
    if (failure) throw failure;
    return 'done';
  };
  return { calls, task };
}

const down = () => new Error('connect ECONNREFUSED');

test('Package registry: two requests fail, the third succeeds: the answer is returned, and the status names the registry', async () => {
  const { calls, task } = failing([down(), down()]);
  const texts: string[] = [];
  const options = { onStatus: (text: string) => texts.push(text), pausesMs: [0, 1] };
  expect(await askRegistry('PyPI', task, options)).toBe('done');
  expect(calls.count).toBe(3);
  expect(texts).toEqual(['PyPI did not answer; next try in 0 s', 'PyPI did not answer; next try in 0.001 s']);
});

test('Package registry: three requests fail: install_failed with the registry, the reason and the advice', async () => {
  const { calls, task } = failing([down(), down(), down()]);
  const asked = askRegistry('Maven Central', task, {
    onStatus: () => {},
    pausesMs: [0, 0],
    advice: 'Try again.',
  });
  await expect(asked).rejects.toMatchObject({
    code: 'install_failed',
    message: 'Maven Central did not answer: connect ECONNREFUSED\nTry again.',
  });
  expect(calls.count).toBe(3);
});
