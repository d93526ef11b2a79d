import { expect, test } from '@jest/globals';
import { parquetReadObjects } from 'hyparquet';
import { DAY_MS, HOUR_MS } from '../../../../schema/rules.ts';
import { usePackedSystem } from '../../../support/system/packed.ts';

const packed = usePackedSystem({ readStreamed: async () => [] });

const DAYS = 360;
const HOURS_A_MESSAGE = 240;

/** All samples of a device in a Parquet file, as text for each. */
async function exported(device: string, from: number, to: number): Promise<string[]> {
  const query = new URLSearchParams({ device, from: String(from), to: String(to) });
  const file = await (await packed.system().fetch(`/export?${query}`)).arrayBuffer();
  const rows = await parquetReadObjects({ file });
  return rows.map(({ sensor, ts, value }) => `${sensor} ${Number(ts)} ${value}`).sort();
}

test('Removal of a year: the device sends meanwhile: the exports differ only by removed and new samples', async () => {
  const now = packed.newHour();
  const begin = now - DAYS * DAY_MS;
  const hours = Array.from({ length: (DAYS * DAY_MS) / HOUR_MS }, (_, index) => begin + index * HOUR_MS);
  for (let at = 0; at < hours.length; at += HOURS_A_MESSAGE) {
    const part = hours.slice(at, at + HOURS_A_MESSAGE);
    await packed.send(
      'oven',
      part.map((ts, index) => ({ ts, value: at + index })),
    );
    await packed.send(
      'oven',
      part.map((ts, index) => ({ ts: ts + 1, value: at + index + 0.5 })),
      'draft',
    );
  }
  const before = await exported('oven', begin, now + HOUR_MS);
  expect(before).toHaveLength(2 * hours.length);

  let isRemoving = true;
  const sent: string[] = [];
  const sending = (async () => {
    for (let index = 0; isRemoving; index++) {
      const ts = now + index;
      await packed.send('oven', [{ ts, value: index }]);
      sent.push(`s ${ts} ${index}`);
    }
  })();
  const [from, to] = [begin + HOUR_MS, now];
  const response = await fetch(
    `${packed.system().httpUrl}/api/v1/measurements?device=oven&sensor=s&from=${from}&to=${to}`,
    { method: 'DELETE' },
  );
  isRemoving = false;
  await sending;
  expect(await response.json()).toMatchObject({ sensors: 1, samples: hours.length - 1 });
  expect(sent.length).toBeGreaterThan(0);

  const isRemoved = (line: string) => {
    const [sensor, ts] = line.split(' ');
    return sensor === 's' && Number(ts) >= from && Number(ts) < to;
  };
  const after = [...before.filter((line) => !isRemoved(line)), ...sent].sort();
  expect(await exported('oven', begin, now + HOUR_MS)).toEqual(after);
  await packed.packBefore(now + HOUR_MS);
  expect(await exported('oven', begin, now + HOUR_MS)).toEqual(after);
}, 300_000);
