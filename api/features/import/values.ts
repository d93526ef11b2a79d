/** A decimal number as programs write it. `Number` would also accept an empty text and 0x10. */
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const NOT_FINITE = /^[+-]?(?:nan|inf|infinity)$/i;
const TRUE_OR_FALSE = /^(true|false)$/i;

/** By the value of the option `thousands`. */
export const THOUSANDS = {
  none: '',
  point: '\\.',
  comma: ',',
  space: '[ \u00a0\u2009\u202f]',
  apostrophe: "['’]",
} as const;

export type NumberStyle = { decimal: 'point' | 'comma'; thousands: keyof typeof THOUSANDS };

/** NaN: not finite; null: not a number. */
type ReadValue = (raw: unknown) => number | null;

export function readValue(raw: unknown): number | null {
  if (typeof raw === 'number') return Number.isFinite(raw) ? raw : Number.NaN;
  if (typeof raw === 'bigint') return Number(raw);
  if (typeof raw === 'boolean') return Number(raw);
  if (typeof raw !== 'string') return null;
  const text = raw.trim();
  if (NUMBER.test(text)) return finite(text);
  if (NOT_FINITE.test(text)) return Number.NaN;
  if (TRUE_OR_FALSE.test(text)) return Number(text.toLowerCase() === 'true');
  // The minus sign of typographers, as Python's and SQL's reports write it.
  return text.startsWith('\u2212') ? readValue(`-${text.slice(1)}`) : null;
}

const finite = (text: string) => (Number.isFinite(Number(text)) ? Number(text) : Number.NaN);

export function valueReader({ decimal, thousands }: NumberStyle): ReadValue {
  if (decimal === 'point' && thousands === 'none') return readValue;
  const mark = decimal === 'comma' ? ',' : '\\.';
  const separator = THOUSANDS[thousands];
  const grouped = separator && `\\d{1,3}(?:${separator}\\d{3})+(?:${mark}\\d*)?|`;
  const pattern = new RegExp(`^[+-]?(?:${grouped}\\d+${mark}?\\d*|${mark}\\d+)(?:e[+-]?\\d+)?$`, 'i');
  const separators = separator && new RegExp(separator, 'g');
  return (raw) => {
    if (typeof raw !== 'string') return readValue(raw);
    const text = raw.trim().replace(/^\u2212/, '-');
    if (!pattern.test(text)) return NUMBER.test(text) ? null : readValue(text);
    const whole = separators ? text.replaceAll(separators, '') : text;
    return readValue(decimal === 'comma' ? whole.replace(',', '.') : whole);
  };
}

export const NUMBER_STYLES: NumberStyle[] = (['point', 'comma'] as const).flatMap((decimal) =>
  (Object.keys(THOUSANDS) as Array<keyof typeof THOUSANDS>)
    .filter((thousands) => thousands !== decimal)
    .map((thousands) => ({ decimal, thousands })),
);

/** Only options that are not defaults, such as `decimal=comma`. */
const styleText = ({ decimal, thousands }: NumberStyle): string =>
  [
    decimal === 'comma' ? 'decimal=comma' : 'decimal=point',
    ...(thousands === 'none' ? [] : [`thousands=${thousands}`]),
  ].join('&');

/** The rule and a remedy, for a cell that is not a number in `style`. */
export function numberRule(raw: unknown, style: NumberStyle): string {
  const text = typeof raw === 'string' ? raw.trim() : '';
  const others = NUMBER_STYLES.filter(
    (other) =>
      (other.decimal !== style.decimal || other.thousands !== style.thousands) &&
      Number.isFinite(valueReader(other)(text)),
  );
  const plain = others.filter(({ thousands }) => thousands === 'none');
  const remedies = (plain.length > 0 ? [...plain, ...grouping(others, text)] : others).slice(0, 2);
  if (remedies.length > 0) {
    const kind = remedies[0]?.decimal === 'comma' ? 'a decimal comma' : 'another form of numbers';
    return `must be a number; did you mean ${kind}? Add \`${remedies.map(styleText).join('` or `')}\``;
  }
  if (/^[+-]?\d/.test(text)) return 'must be a number, without a unit or other text';
  if (text !== '' && text.length <= 20)
    return `must be a number; to skip such cells, add \`missing=${text}\``;
  return 'must be a number';
}

/** Styles in which the one mark separates thousands. */
const grouping = (styles: NumberStyle[], text: string): NumberStyle[] =>
  styles
    .filter(
      ({ thousands }) =>
        thousands !== 'none' && new RegExp(`^[+-]?\\d{1,3}${THOUSANDS[thousands]}\\d{3}$`).test(text),
    )
    .slice(0, 1);
