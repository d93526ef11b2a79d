import { expect, test } from '@jest/globals';
import type { MemoryPipeline } from '../system/memory-pipeline.ts';

type Encode = (text: string) => Buffer;

const utf16 = (text: string) => Buffer.from(text, 'utf16le');

export const READ: Array<[title: string, encode: Encode, contentType: string | undefined]> = [
  ['UTF-8 with a mark', (text) => Buffer.from(`\ufeff${text}`), undefined],
  ['UTF-16 LE with a mark', (text) => utf16(`\ufeff${text}`), undefined],
  ['UTF-16 BE with a mark', (text) => utf16(`\ufeff${text}`).swap16(), undefined],
  ['UTF-16 LE', utf16, undefined],
  ['UTF-16 BE', (text) => utf16(text).swap16(), undefined],
  ['UTF-8 with CRLF and NUL bytes after it', (text) => Buffer.from(`${text}\r\n\0\0`), undefined],
  ['declared Windows-1252', (text) => Buffer.from(text, 'latin1'), 'application/json; charset=windows-1252'],
];

const REFUSED = [
  ['Windows-1252', (text) => Buffer.from(text, 'latin1')],
  [
    'UTF-32',
    (text) =>
      Buffer.concat(
        [...`\ufeff${text}`].map((char) => Buffer.from(new Uint32Array([char.codePointAt(0) ?? 0]).buffer)),
      ),
  ],
] as Array<[title: string, encode: Encode]>;

/** A topic, and a payload that gives the device a sensor `Küche` or labels it. */
export type Door = [topic: string, text: string];

/**
 * Declares the tests of each door with each encoding.
 * @param doors by name; `D` in a topic is the device
 * @param prepare is called before a message of a door
 */
export function testDoors(
  doors: Record<string, Door>,
  pipeline: () => MemoryPipeline,
  prepare: (door: string, device: string) => unknown = () => {},
) {
  let devices = 0;

  async function send(door: string, encode: Encode, contentType?: string) {
    const { accept, deadLetters, keyOf, store } = pipeline();
    const [topic, text] = doors[door] as Door;
    const device = `d${++devices}`;
    const before = (await deadLetters()).length;
    await prepare(door, device);
    const outcome = await accept(
      topic.replace('D', device),
      encode(text),
      contentType ? { contentType } : {},
    );
    const rows = await store.devices.sensors(keyOf(device));
    const row = await store.devices.device(keyOf(device));
    return {
      outcome,
      sensors: rows.map(({ name, unit }) => [name, unit]),
      labels: [row?.site, row?.label].filter(Boolean),
      codes: (await deadLetters()).slice(before),
    };
  }

  const names = Object.keys(doors);
  const read = names.flatMap((door) => READ.map((each) => [door, ...each] as const));
  const refused = names.flatMap((door) => REFUSED.map((each) => [door, ...each] as const));

  test.each(read)('Encoding: %s in %s: read like plain UTF-8', async (door, _, encode, contentType) => {
    const plain = await send(door, (text) => Buffer.from(text));
    expect(plain.sensors.map(([name]) => name)).toEqual(['Küche']);
    expect(await send(door, encode, contentType)).toEqual(plain);
  });

  test.each(refused)(
    'Encoding: %s in %s: refused, and nothing of it is stored',
    async (door, title, encode) => {
      const { sensors, labels, codes } = await send(door, encode);
      expect([sensors, labels]).toEqual([[], []]);
      expect(codes).toEqual([{ [title === 'UTF-32' ? 'unknown_format' : 'malformed']: 1 }]);
    },
  );
}
