/**
 * A second reader of line protocol, by regular expressions, for tests. It follows the grammar of Telegraf 1.37
 * (plugins/parsers/influx/machine.go.rl). A line that does not match ends at its first newline.
 */

const SPACES = '[ \\t\\v\\f]';
const PLAIN = '[^\\t\\n\\v\\f\\r ,\\\\]';
const PLAIN_KEY = '[^\\t\\n\\v\\f\\r ,=\\\\]';
const MEASUREMENT = `(?!#)(?:${PLAIN}|\\\\[^\\t\\n\\v\\f\\r])+`;
const TAG_TEXT = `(?:${PLAIN_KEY}|\\\\(?:[^\\t\\n\\v\\f\\r\\\\]|(?=\\\\)))+`;
const KEY = `(?:${PLAIN_KEY}|\\\\[^\\t\\n\\v\\f\\r])+`;
const FLOAT = '-?(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:[eE][+-]?\\d+)?';
const INTEGER = '(?:-?(?:0|[1-9]\\d*)i|(?:0|[1-9]\\d*)u)';
const BOOLEAN = '(?:false|FALSE|False|F|f|true|TRUE|True|T|t)';
const TEXT = '"(?:[^"\\\\]|\\\\[^])*"';
const VALUE = `(?:${INTEGER}|${FLOAT}|${TEXT}|${BOOLEAN})`;
const FIELD = `${KEY}=${VALUE}`;

const EMPTY = new RegExp(`(?:${SPACES}|\\r?\\n|#[^\\n]*(?:\\n|$))*`, 'y');
const LINE = new RegExp(
  `(${MEASUREMENT})((?:,${TAG_TEXT}=${TAG_TEXT})*)${SPACES}+(${FIELD}(?:,${FIELD})*)(?:${SPACES}+(-?\\d{1,19}))?${SPACES}*(?:\\r?\\n|$)`,
  'y',
);
const EACH_TAG = new RegExp(`,(${TAG_TEXT})=(${TAG_TEXT})`, 'g');
const EACH_FIELD = new RegExp(`(${KEY})=(${VALUE})(?:,|$)`, 'g');

/** a text is null */
export type Point = {
  line: number;
  measurement: string;
  tags: [string, string][];
  fields: [string, number | null][];
  time: string;
};

const unescaped = (text: string): string => text.replaceAll(/\\([,= "])/g, '$1');

/** @returns null: a text; NaN: an integer beyond 64 bits */
function readValue(value: string): number | null {
  if (value.startsWith('"')) return null;
  if (/^[tTfF]/.test(value)) return Number(/^[tT]/.test(value));
  if (!/[iu]$/.test(value)) return Number(value);
  const integer = BigInt(value.slice(0, -1));
  const fits = value.endsWith('i') ? BigInt.asIntN(64, integer) : BigInt.asUintN(64, integer);
  return fits === integer ? Number(integer) : Number.NaN;
}

/** @returns `bad`: the numbers of bad lines */
export function readLinesSlowly(text: string): { points: Point[]; bad: number[] } {
  const points: Point[] = [];
  const bad: number[] = [];
  const lineOf = (at: number) => text.slice(0, at).split('\n').length;
  for (let at = 0; ; ) {
    EMPTY.lastIndex = at;
    at += EMPTY.exec(text)?.[0].length ?? 0;
    if (at >= text.length) return { points, bad };
    LINE.lastIndex = at;
    const found = LINE.exec(text);
    const fields = [...(found?.[3] ?? '').matchAll(EACH_FIELD)].map(
      ([, key, value]) => [unescaped(String(key)), readValue(String(value))] as [string, number | null],
    );
    if (found && !fields.some(([, value]) => Number.isNaN(value))) {
      points.push({
        line: lineOf(at),
        measurement: String(found[1]).replaceAll(/\\([, ])/g, '$1'),
        tags: [...String(found[2]).matchAll(EACH_TAG)].map(([, key, value]) => [
          unescaped(String(key)),
          unescaped(String(value)),
        ]),
        fields,
        time: found[4] ?? '',
      });
      at = LINE.lastIndex;
    } else {
      bad.push(lineOf(at));
      const end = text.indexOf('\n', at);
      at = end < 0 ? text.length : end + 1;
    }
  }
}
