import { expect, test } from '@jest/globals';
import { createSensorIndex } from '../../../api/store/devices/latest-pages.ts';
import { createSession } from '../../../api/store/sending/session.ts';
import { readMetric } from '../../support/metrics.ts';
import { useDevice, useTestSystem } from '../../support/system/use.ts';

/** The time before a wrong index row is removed, in ms. The birth that wrote it may still be under way. */
const GUARD = 600_000;

/** How far the clock of the system is ahead, in ms. */
let ahead = 0;
const system = useTestSystem({ clock: () => Date.now() + ahead });
const device = useDevice(system);

async function indexRows(column: 'type' | 'site' | 'name', term: string): Promise<number> {
  const { rows } = await system.execute(`SELECT ${column} FROM sensor_by_${column}`);
  return rows.filter((row) => row[column] === term).length;
}

const staleRows = (index: string) => readMetric(system, `iot_db_stale_index_rows_total{index="${index}"}`);

test.each([
  ['type', 'Pulse', 'Respiration'],
  ['name', 'left', 'right'],
  ['site', 'Oslo', 'Bergen'],
] as const)(
  'Sensor index: %s of a sensor changes: only its new value finds the sensor',
  async (column, before, after) => {
    const birth = (term: string) =>
      device.birth(`mover-${column}`, {
        session: Date.now() + ahead,
        site: column === 'site' ? term : 'Here',
        sensors: [{ sensor_id: 'x', ...(column === 'site' ? {} : { [column]: term }) }],
      });
    await birth(before);
    expect((await system.get(`/latest?${column}=${before}`)).items).toHaveLength(1);
    await birth(after);

    // The old row is skipped and counted. It stays for as long as the birth might take.
    const counted = await staleRows(column);
    expect((await system.get(`/latest?${column}=${before}`)).items).toEqual([]);
    expect((await system.get(`/latest?${column}=${after}`)).items).toHaveLength(1);
    expect(await staleRows(column)).toBe(counted + 1);
    expect(await indexRows(column, before)).toBe(1);

    ahead += GUARD;
    expect(await system.all(`/latest?${column}=${before}`)).toEqual([]);
    expect(await indexRows(column, before)).toBe(0);
    expect(await staleRows(column)).toBe(counted + 2);
    expect(await system.all(`/latest?${column}=${before}`)).toEqual([]);
    expect(await staleRows(column)).toBe(counted + 2);
    expect((await system.get(`/latest?${column}=${after}`)).items).toHaveLength(1);

    // A removed row can be written again.
    await birth(before);
    expect((await system.get(`/latest?${column}=${before}`)).items).toHaveLength(1);
  },
);

test('Device index: site of a device changes: only the new site finds the device', async () => {
  const birth = (site: string) => device.birth('van', { session: Date.now() + ahead, site, sensors: [] });
  const indexed = async () => {
    const { rows } = await system.execute('SELECT site FROM device_by_site');
    return rows.filter(({ site }) => site === 'Depot').length;
  };
  await birth('Depot');
  expect(await system.all('/devices?site=Depot')).toHaveLength(1);
  await birth('Road');
  const counted = await staleRows('device_site');
  expect(await system.all('/devices?site=Depot')).toEqual([]);
  expect(await system.all('/devices?site=Road')).toHaveLength(1);
  expect(await staleRows('device_site')).toBe(counted + 1);
  expect(await indexed()).toBe(1);
  ahead += GUARD;
  expect(await system.all('/devices?site=Depot')).toEqual([]);
  expect(await indexed()).toBe(0);
  await birth('Depot');
  expect(await system.all('/devices?site=Depot')).toHaveLength(1);
});

test('Sensor index: first rows of a page are outdated: the page is short, and the next page continues after them', async () => {
  const sensors = (type: string) => Array.from({ length: 10 }, (_, s) => ({ sensor_id: `s${s}`, type }));
  await device.birth('changing', { sensors: sensors('Before') });
  await device.birth('changing', { sensors: sensors('After').slice(0, 8) });
  const rest = await system.all('/latest?type=Before&limit=3');
  expect(rest.map(({ name }) => name).sort()).toEqual(['s8', 's9']);
});

test('Sensor index: row is written again while its old version is removed: the new row stays', async () => {
  const index = createSensorIndex(createSession(await system.openDatabase(), () => {}));
  const [deviceId, sensorId] = [
    '10000000-0000-4000-8000-000000000001',
    '20000000-0000-4000-8000-000000000002',
  ];
  const write = (stamp: number) =>
    system.execute(
      'INSERT INTO sensor_by_type (type, grp, device_id, sensor_id, written_at) VALUES (?, ?, ?, ?, ?) USING TIMESTAMP ?',
      ['Raced', 0, deviceId, sensorId, new Date(), stamp],
      { prepare: true },
    );
  await write(1000);
  const [read] = await index.after('type', 'Raced', { group: 0 }, 1);
  if (!read) throw new Error('the row is not there');
  await write(2000);
  await index.remove('type', read);
  const [newer] = await index.after('type', 'Raced', { group: 0 }, 1);
  expect(newer?.writeTimestamp.toNumber()).toBe(2000);
  if (newer) await index.remove('type', newer);
  expect(await index.after('type', 'Raced', { group: 0 }, 1)).toEqual([]);
});
