import { expect, test } from '@jest/globals';
import { readDeviceHour } from '../../../api/history/packing/pack-device-hour.ts';
import { packBlock } from '../../../schema/packed/block.ts';

const HOUR = Date.UTC(2026, 4, 5, 12);
const DEVICE = Buffer.alloc(16, 9);
const BROKEN = Buffer.from([255, 1, 2]);

const idOf = (name: number): Buffer => Buffer.alloc(16, name);

/** @returns a row of `message` */
const block = (
  ...sensors: Array<[sensor: number, samples: Array<[second: number, value: number]>]>
): Buffer =>
  packBlock(
    HOUR,
    sensors.map(([name, samples]) => ({
      sensor: idOf(name),
      times: samples.map(([second]) => HOUR + second * 1000),
      values: samples.map(([, value]) => value),
      from: 0,
      to: samples.length,
    })),
  );

type Page = { blocks?: Buffer[]; parts?: number[] };

/** Reads an hour whose partitions have these pages. @param pages by part */
async function read(pages: Record<number, Page[]>) {
  const partsRead: number[] = [];
  const unreadable: unknown[] = [];
  const hour = readDeviceHour({
    store: {
      async blockPage(_device, _hour, part, after) {
        const index = Number(after ?? 0);
        if (index === 0) partsRead.push(part);
        const list = pages[part] ?? [];
        const next = index + 1 < list.length ? String(index + 1) : undefined;
        return { blocks: [], parts: [], ...list[index], next };
      },
    },
    steps: { run: (step: () => unknown) => step() } as never,
    observer: { onUnreadable: (of, rows) => void unreadable.push({ ...of, rows }) },
    device: DEVICE,
    hour: HOUR,
  });
  const gathered = [];
  for await (const { sensors, unreadable: rows } of hour) {
    const entries = [...sensors].map(([id, { sensor, times, values }]) => {
      expect(sensor.toString('hex')).toBe(id);
      return [sensor[0], times.map((ts) => (ts - HOUR) / 1000), values];
    });
    gathered.push({ sensors: entries, unreadable: rows });
  }
  return { gathered, partsRead, unreadable };
}

test('Read of an hour of a wide device: the first partition has an unreadable row: the row is reported once', async () => {
  const { gathered, unreadable } = await read({
    0: [{ parts: [2], blocks: [BROKEN] }],
    1: [{ blocks: [block([1, [[0, 1]]])] }],
  });
  expect(gathered).toEqual([{ sensors: [[1, [0], [1]]], unreadable: 1 }]);
  expect(unreadable).toEqual([{ device: DEVICE, hour: HOUR, rows: 1 }]);
});

test('Read of an hour of a device: unpacking a row throws a TypeError: the error is passed on, not counted as unreadable', async () => {
  const defect = read({ 0: [{ blocks: [null as never] }] });
  await expect(defect).rejects.toThrow(TypeError);
});
