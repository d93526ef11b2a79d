import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { type BlockStore, createBlockStore } from '../../../../api/features/shared/blocks/store.ts';
import { type Store, stampOf } from '../../../../api/store/index.ts';
import { uuidBytes, uuidText } from '../../../../schema/ids.ts';
import { HOUR_MS, SENSORS_PER_PART } from '../../../../schema/rules.ts';

const HOUR = Date.UTC(2026, 4, 1, 5);

const newId = () => uuidBytes(randomUUID());

/** A group that no other test uses. */
const newGroup = () => 1000 + Math.floor(Math.random() * 1e9);

export function describeBlocks(subject: () => Store) {
  let store: Store;
  let blockStore: BlockStore;
  beforeAll(() => {
    store = subject();
    blockStore = createBlockStore(store.session);
  });

  test('Store: rows of an hour in two partitions: each row has a digest; rows before an instant can be omitted', async () => {
    const device = newId();
    const size = SENSORS_PER_PART + 1;
    const sensors = Array.from({ length: size }, newId);
    const at = async (ts: number) => {
      const samples = sensors.map((sensor) => ({ sensor, times: [ts], values: [1] }));
      await store.write.samples({ bytes: device, sensors: { size } }, samples);
    };
    await at(HOUR + 1);
    await at(HOUR + 2);
    expect(await blockStore.parts(device, HOUR)).toEqual([0, 1, 2]);
    const read = async (part: number, since = HOUR) =>
      (await blockStore.blockPage(device, HOUR, part, { since })).items;
    const blocks = [...(await read(0)), ...(await read(1)), ...(await read(2))];
    expect(blocks.map(({ part, ts }) => [part, ts])).toEqual([
      [1, HOUR + 2],
      [1, HOUR + 1],
      [2, HOUR + 2],
      [2, HOUR + 1],
    ]);
    expect((await read(1, HOUR + 2)).map(({ ts }) => ts)).toEqual([HOUR + 2]);
  });

  test('Store: devices of a group: all are read in order, or only those from a given device on', async () => {
    const group = newGroup();
    const ids = Array.from({ length: 3 }, newId).sort((a, b) => (uuidText(a) < uuidText(b) ? -1 : 1));
    for (const bytes of ids)
      await store.write.registry.writeDevice({ group, bytes }, { name: 'x', registeredAt: 5 }, stampOf(1));
    const from = async (first: Buffer | null) =>
      (await blockStore.devicePage(group, first)).items.map(uuidText);
    expect(await from(null)).toEqual(ids.map(uuidText));
    expect(await from(ids[1] as Buffer)).toEqual(ids.slice(1).map(uuidText));
  });

  test('Store: late arrivals of an hour: all are read by device and hour, or only those from a given arrival on', async () => {
    const group = newGroup();
    const device = newId();
    const arrivals = [1, 2].map((hours) => ({ device, bucket: HOUR + hours * HOUR_MS, since: HOUR }));
    for (const arrival of arrivals.toReversed()) await store.write.lateArrivals.write(group, HOUR, arrival);
    const { lateArrivalPage } = blockStore;
    expect((await lateArrivalPage(group, HOUR)).items).toEqual(arrivals);
    expect((await lateArrivalPage(group, HOUR, undefined, arrivals[1])).items).toEqual(arrivals.slice(1));
    expect((await lateArrivalPage(group, HOUR + HOUR_MS)).items).toEqual([]);
  });
}
