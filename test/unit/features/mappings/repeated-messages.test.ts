import { describe, expect, test } from '@jest/globals';
import { Mappings, parseMappings } from '../../../../api/features/mappings/mappings.ts';
import { readSamples } from '../../../support/features/mappings.ts';

const T0 = Date.parse('2026-11-22T09:00:00Z');

const chirpstack = (ms: number, rest?: object) => ({
  deduplicationId: `id ${ms}`,
  time: new Date(T0 + ms).toISOString(),
  devAddr: '00189440',
  fCnt: 104,
  data: 'Bw==',
  object: { count: 7 },
  rxInfo: [{ gatewayId: 'a', rssi: -90 - ms / 1000, snr: 5 }],
  ...rest,
});

const theThingsStack = (ms: number, rest?: object) => ({
  end_device_ids: { device_id: 'd', dev_addr: '00BCB929' },
  received_at: new Date(T0 + ms + 200).toISOString(),
  uplink_message: {
    session_key_id: 'AX',
    f_cnt: 104,
    frm_payload: 'Bw==',
    decoded_payload: { count: 7 },
    rx_metadata: [{ rssi: -90 - ms / 1000, snr: 5 }],
    received_at: new Date(T0 + ms).toISOString(),
    ...rest,
  },
});

type Product = [topic: string, (ms: number, rest?: object) => object, counter: string, address: string];
const PRODUCTS: Array<[preset: string, ...product: Product]> = [
  ['chirpstack', 'application/1/device/D/event/up', chirpstack, 'fCnt', 'devAddr'],
  ['the-things-stack', 'v3/app@ttn/devices/D/up', theThingsStack, 'f_cnt', 'session_key_id'],
];

// chirpstack-application-server#460, helium/console#527, lorawan-stack#4395.
describe.each(PRODUCTS)('Uplink of %s', (preset, topic, message, counter, address) => {
  /** Reads uplinks in order. @returns time of the count and of the signal, in ms after T0 */
  function read(uplinks: Array<[device: string, content: object]>): Array<[count: number, rssi?: number]> {
    const mappings = new Mappings(parseMappings(`mappings: [{ use: ${preset} }]`, 'test'));
    return uplinks.map(([device, content]) => {
      const payload = Buffer.from(JSON.stringify(content));
      const at = (samples?: [ms: number, value: number][]) => (samples?.[0]?.[0] ?? Number.NaN) - T0;
      const { values } = readSamples(mappings, topic.replace('D', device), payload, T0 + 900_000);
      return [at(values['count']), at(values['rssi'])];
    });
  }

  test(`Uplink of ${preset}: sent again by another gateway 48 s later: it has the time and the signal of the first`, () => {
    expect(
      read([
        ['a', message(0)],
        ['a', message(48_000)],
        ['a', message(600_000)],
      ]),
    ).toEqual([
      [0, 0],
      [0, Number.NaN],
      [0, Number.NaN],
    ]);
  });

  test(`Uplink of ${preset}: redelivered by the broker: read like the first delivery, with its signal`, () => {
    expect(
      read([
        ['a', message(0)],
        ['a', message(0)],
      ]),
    ).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });

  test.each([
    ['another counter', 'a', { [counter]: 105 }],
    ['another session', 'a', { [address]: 'other' }],
    [
      'other data with the same counter, after a restart',
      'a',
      preset === 'chirpstack'
        ? { data: 'CA==', object: { count: 8 } }
        : { frm_payload: 'CA==', decoded_payload: { count: 8 } },
    ],
    ['another device', 'b', {}],
    ['no counter', 'a', { [counter]: undefined }],
  ] as Array<[string, string, object]>)(
    `Uplink of ${preset}: %s 48 s later: it keeps its own time`,
    (title, device, rest) => {
      const first = title === 'no counter' ? message(0, rest) : message(0);
      expect(
        read([
          ['a', first],
          [device, message(48_000, rest)],
        ]),
      ).toEqual([
        [0, 0],
        [48_000, 48_000],
      ]);
    },
  );

  test(`Uplink of ${preset}: the same counter and data after 10 minutes: it keeps its own time`, () => {
    expect(
      read([
        ['a', message(0)],
        ['a', message(600_001)],
      ]),
    ).toEqual([
      [0, 0],
      [600_001, 600_001],
    ]);
  });
});
