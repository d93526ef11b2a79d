import { expect, test } from '@jest/globals';
import { partLedger } from '../../../../simulator/verify/ledger-parts.ts';
import { useCleanUps } from '../../../support/clean-ups.ts';
import { createLedgerCase } from '../../../support/simulator/ledger-case.ts';

const START = Date.UTC(2026, 10, 21, 10);

const afterwards = useCleanUps();

/** Creates a ledger of 40 devices with two messages each. */
function createManyDevices() {
  const fleet = createLedgerCase(afterwards);
  for (const turn of [0, 1])
    for (let device = 0; device < 40; device++)
      fleet.send(`device-${device}`, 'pulse', [[START + 1000 * turn, device]]);
  return fleet;
}

test('Simulator ledger in parts: the ledger is larger than a part: each device is in one part, with all its messages', async () => {
  const { ledgerPath } = createManyDevices();
  const parts = await partLedger(ledgerPath, { onProgress: () => {}, partBytes: 1000 });
  afterwards(parts.remove);
  expect(parts.count).toBeGreaterThan(5);
  const devices = [];
  let filled = 0;
  for (let part = 0; part < parts.count; part++) {
    const { size } = await parts.read(part);
    if (size > 0) filled++;
    devices.push(...(await parts.read(part)));
  }
  expect(filled).toBeGreaterThan(3);
  expect(devices).toHaveLength(40);
  expect(new Set(devices.map(([name]) => name)).size).toBe(40);
  for (const [name, sensors] of devices) {
    const number = Number(name.slice('device-'.length));
    expect([...sensors]).toEqual([
      [
        'pulse',
        { times: [START, START + 1000], values: [number, number], messages: [number + 1, number + 41] },
      ],
    ]);
  }
});

test('Ledger comparison: the ledger is larger than a part: each part is compared', async () => {
  const result = await createManyDevices().compare({ partBytes: 1000 });
  expect(result).toMatchObject({ agree: true, devices: 40, messages: 80, acknowledged: 80, stored: 80 });
});
