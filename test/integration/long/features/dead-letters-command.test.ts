import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Refusals } from '../../../../api/store/dead-letters.ts';
import type { Refusal } from '../../../../common/errors.ts';
import { startCommand } from '../../../support/processes/api-process.ts';
import { useDevice, useStore, useTestSystem } from '../../../support/system/use.ts';

const NOW = Date.now();
const HOUR = 3_600_000;

const system = useTestSystem({ settings: { AUTO_REGISTER: 'false' } });
const store = useStore(system);
const device = useDevice(system);

async function run(...args: string[]) {
  const settings = { API_URL: system.httpUrl };
  const { code, output } = await startCommand('api/features/dead-letters/command/index.ts', settings, args)
    .ended;
  const lines = output.trim().split('\n');
  // Standard error has the progress and the last note. On a busy machine they arrive between the other lines.
  return {
    code,
    output,
    lines: lines.filter((line) => !/^replayed |^The dead letters above/.test(line)),
  };
}

/** @param name of a device @param receivedAt epoch ms */
const writeDeadLetter = (
  name: string,
  content: unknown,
  refused: Refusals,
  receivedAt: number,
  kind = 'measurements',
) =>
  store.deadLetters.write({
    receivedAt,
    device: name,
    topic: `iot/v1/${name}/${kind}`,
    codes: Object.fromEntries(refused.map(({ code }) => [code, 1])),
    content: { contentType: undefined, payload: Buffer.from(JSON.stringify(content)), refused },
  });

async function deadLetterOf(name: string): Promise<string> {
  const items = await system.all(`/dead-letters?from=${NOW - 100 * HOUR}`);
  return items.find((deadLetter) => deadLetter.device === name).id;
}

const NOT_NUMERIC: Refusal = { index: 1, code: 'not_numeric', path: '[1].value', rule: 'must be a number' };

describe('npm run dead-letters: list and summary', () => {
  beforeAll(async () => {
    const bad = [
      { sensor_id: 't', ts: NOW, value: 1 },
      { sensor_id: 't\u001b[2J', value: 'x' },
    ];
    await writeDeadLetter('first', bad, [NOT_NUMERIC], NOW - 3 * HOUR);
    await writeDeadLetter('second', bad, [{ index: 0, code: 'too_old' }], NOW - 2 * HOUR);
    await writeDeadLetter('first', { sensors: 7 }, [{ index: -1, code: 'malformed' }], NOW - HOUR, 'birth');
    await writeDeadLetter('long-ago', bad, [{ index: 0, code: 'too_old' }], NOW - 50 * HOUR);
  });

  test('npm run dead-letters: list: dead letters of the last day are printed, newest first', async () => {
    const { code, lines } = await run('list');
    expect(code).toBe(0);
    const ids = (await system.all('/dead-letters')).map(({ id }) => id);
    expect(lines.map((line) => line.split('  ')[1])).toEqual(ids);
    expect(lines[0]).toBe(
      `${new Date(NOW - HOUR).toISOString()}  ${ids[0]}  iot/v1/first/birth  13 bytes  1 malformed`,
    );
  });

  test('npm run dead-letters: show: elements of the payload and their refusals are printed, without control characters', async () => {
    const [{ id }] = (await system.all(`/dead-letters?from=${NOW - 100 * HOUR}&code=not_numeric`)) as [
      { id: string },
    ];
    const { code, lines } = await run('show', id);
    expect(code).toBe(0);
    expect(lines).toEqual([
      `id        ${id}`,
      `received  ${new Date(NOW - 3 * HOUR).toISOString()}`,
      'device    first',
      'topic     iot/v1/first/measurements',
      'refused   1 not_numeric',
      '          [1].value: must be a number',
      'payload   87 bytes',
      `[0] {"sensor_id": "t", "ts": ${NOW}, "value": 1}`,
      '[1] {"sensor_id": "t\\u001b[2J", "value": "x"}   <- not_numeric',
    ]);
  });
});

test('npm run dead-letters: replay of one dead letter: refused before the birth of its device, stored after it, also by a second replay', async () => {
  const samples = [{ sensor_id: 's', ts: NOW, value: 5 }];
  await writeDeadLetter('one', samples, [{ index: 0, code: 'unknown_device' }], NOW - 60_000);
  const id = await deadLetterOf('one');
  const before = await run('replay', id);
  expect(before.code).toBe(76);
  expect(before.lines).toEqual([
    `${id}  refused again: 1 unknown_device`,
    '1 dead letter: 0 stored, refused again: 1 unknown_device',
  ]);
  expect(before.output).toContain('The dead letters above keep the measurements that are not stored.');
  await device.birth('one', { sensors: [{ sensor_id: 's' }] });
  for (let times = 0; times < 2; times++) {
    expect(await run('replay', id)).toMatchObject({ code: 0, lines: ['1 dead letter: 1 stored'] });
  }
  const { items } = await system.get(`/devices/one/sensors/s/measurements?from=${NOW - HOUR}`);
  expect(items).toEqual([{ ts: new Date(NOW).toISOString(), value: 5 }]);
});
