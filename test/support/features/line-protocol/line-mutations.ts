import { expect } from '@jest/globals';
import { createRandom } from '../../../../simulator/random.ts';
import { readLinesSlowly } from '../../payloads/line-reference.ts';
import { readLines } from './line-points.ts';

/** Characters with a meaning in line protocol. */
const MARKS = [...' ,="\\\n\r\t#-.e_E_i_u_t_f_T_F_0159x☺', '\u0000', '\\"', '\\\\', '""', '\r\n', ' 5', '="'];

function mutator(random: () => number) {
  const below = (count: number) => Math.floor(random() * count);
  const mark = () => String(MARKS[below(MARKS.length)]);
  return function mutate(line: string) {
    const at = below(line.length + 1);
    const to = at + below(4);
    const changes = [
      () => line.slice(0, at) + mark() + line.slice(at),
      () => line.slice(0, at) + mark() + line.slice(to),
      () => line.slice(0, at) + line.slice(to + 1),
      () => line.slice(0, at),
      () => line.slice(0, at) + line.slice(at, to).repeat(2) + line.slice(to),
      () => line.slice(at) + line.slice(0, at),
    ];
    return (changes[below(changes.length)] as () => string)();
  };
}

/** Good lines, each with a measurement of its own. */
function goodLines(random: () => number, count: number) {
  const values = ['1', '-2.5', '3i', '4u', 'true', 'f', '"text"', '"a b, c=d"', '6e-3', '"x\\"y"'];
  const value = () => String(values[Math.floor(random() * values.length)]);
  return Array.from({ length: count }, (_, at) => {
    const tags = random() < 0.5 ? `,host=h${at},${String.raw`room=a\ b`}` : '';
    const time = random() < 0.7 ? ` ${1_795_680_000_000 + at}` : '';
    return `m${at}${tags} v=${at},a=${value()},b=${value()}${time}`;
  });
}

/**
 * Changes good lines at random. The parser must read the lines next to them as before, and report bad lines by number. A second,
 * slow reader must agree.
 * @returns lines that were refused
 */
export function readMutatedLines(times: number, seed: number): number {
  const source = createRandom(seed, 'line protocol');
  const random = () => source.uniform();
  const mutate = mutator(random);
  let refused = 0;
  for (let time = 0; time < times; time++) {
    const lines = goodLines(random, 4);
    const changed = Math.floor(random() * lines.length);
    const rounds = 1 + Math.floor(random() * 3);
    for (let round = 0; round < rounds; round++) lines[changed] = mutate(String(lines[changed]));
    const text = lines.join('\n');
    const { points, bad } = readLines(text);
    const slow = readLinesSlowly(text);
    const numbers = slow.points.map((point) => ({
      ...point,
      fields: point.fields.filter(([, value]) => value !== null),
      texts: point.fields.filter(([, value]) => value === null).length,
      tags: [...new Map(point.tags)],
    }));
    if (
      JSON.stringify([points, bad.map(([line]) => line)]) !==
      JSON.stringify([numbers, slow.bad].map(withOrder))
    ) {
      expect([text, points, bad.map(([line]) => line)]).toEqual([text, numbers, slow.bad]);
    }
    // The lines next to the mutated one are as good as before.
    const names = new Set(points.map(({ measurement }) => measurement));
    const lost = lines.flatMap((_, at) => (at === changed || names.has(`m${at}`) ? [] : [at]));
    if (lost.length > 0) expect([text, lost]).toEqual([text, []]);
    refused += bad.length;
  }
  return refused;
}

type Point = number | ReturnType<typeof readLines>['points'][number];

/** The members in the order of `read`. */
const withOrder = (value: unknown) =>
  (value as Point[]).map((point) => {
    if (typeof point === 'number') return point;
    const { line, measurement, tags, fields, texts, time } = point;
    return { line, measurement, tags, fields, texts, time };
  });
