import { expect } from '@jest/globals';
import fc from 'fast-check';
import { MessageDecoder } from '../../../api/ingest/decode/index.ts';

export const NOW = Date.UTC(2026, 10, 22, 12);
export const decoder = new MessageDecoder({ historyMs: 86_400_000, maxClockSkewMs: 0, relativeTimes: true });

/** A sensor with its value, or a refusal. */
export type Result = string[];

export const resultOf = (device: string, { sensors, refused }: ReturnType<typeof decoder.decode>): Result => [
  ...[...sensors].flatMap(([sensor, { values }]) => values.map((value) => `${device}/${sensor} ${value}`)),
  ...refused.map(({ code }) => `refused ${code}`),
];

export function readMessage(content: Buffer | string | object): Result {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const payload = Buffer.isBuffer(content) ? content : Buffer.from(text);
  return resultOf('d', decoder.decode(payload, undefined, NOW));
}

export const part = fc.string({
  unit: fc.constantFrom('.', '\\', '1', '2', 'a', '-', '{', '=', ','),
  minLength: 1,
  maxLength: 4,
});
const path = fc.array(part, { minLength: 1, maxLength: 3 });

export const nested = (tokens: string[], value: number): object =>
  tokens.reduceRight((inner: unknown, token) => ({ [token]: inner }), value) as object;

/** Checks that two sources share no name, unless one of them is refused. */
export function checkApart(results: Result[], areSame: boolean) {
  const [one, other] = results.map((all) => all.filter((each) => !each.startsWith('refused')));
  const [first, second] = [one, other].map((all) => all?.[0]?.replace(/ \d$/, ''));
  if (areSame || first === undefined || second === undefined) return;
  expect(first).not.toBe(second);
}

/** Divides one text at different dots, because independent texts are seldom joined to the same name. */
const divided: fc.Arbitrary<[string[], string[]]> = fc
  .tuple(
    fc.string({
      unit: fc.constantFrom('.', '.', '-', '\\', '1', '2', 'a', '{', '=', ','),
      minLength: 3,
      maxLength: 8,
    }),
    fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
    fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
  )
  .map(([text, one, other]) => {
    const divide = (cuts: boolean[]) =>
      text.split(/([.-])/).reduce(
        (parts, piece, index) => {
          if (index % 2 === 1 && cuts[index]) parts.push('');
          else parts[parts.length - 1] += piece;
          return parts;
        },
        [''],
      );
    return [divide(one), divide(other)] as [string[], string[]];
  });

/** @param size number of parts of a source; default: any */
export function checkDoor(read: (source: string[], value: number) => Result, size?: number) {
  const pairs = fc.oneof(divided, fc.tuple(path, path));
  const isFit = (parts: string[]) =>
    (size === undefined || parts.length === size) && parts.every((each) => each !== '');
  const property = fc.property(
    pairs.filter((pair) => pair.every(isFit)),
    ([one, other]) =>
      checkApart([read(one, 1), read(other, 2)], JSON.stringify(one) === JSON.stringify(other)),
  );
  fc.assert(property, { numRuns: 400 });
}
