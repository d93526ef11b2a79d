import type { Scale, UnitChoices } from '../../units.ts';
import { chosenScale, isAsSent, plainScale, toShown } from '../../units.ts';

/**
 * Returns the scale in which users type and read limits: the chosen unit without a prefix, because a prefix would depend on
 * the values.
 */
export const limitScale = (unit: string | null, choices: UnitChoices): Scale =>
  chosenScale(unit, choices) ?? plainScale(unit);

/**
 * Parses a number.
 *
 * @param text number as people write it, such as `-4,5`
 * @returns null: the text is no number
 */
export function readNumber(text: string | null): number | null {
  const plain = (text ?? '')
    .trim()
    .replace('\u2212', '-')
    .replace(/^([^.,]*),([^.,]*)$/, '$1.$2');
  const number = plain === '' ? Number.NaN : Number(plain);
  return Number.isFinite(number) ? number : null;
}

/** Returns the scale for differences, such as a change per second, which have no offset. */
export const differenceScale = (scale: Scale): Scale => ({ ...scale, offset: 0 });

export const roundedText = (scale: Scale, sent: number): string =>
  `${Number(toShown(scale, sent).toPrecision(6))} ${scale.unit}`.trim();

/** Significant digits of a limit. Sent limits have more digits, so that the shown limit can be restored from the sent limit. */
const DIGITS = { sent: 14, shown: 12 };

/**
 * Removes the rounding noise of a conversion.
 *
 * @param size size of the largest number in the calculation: for example, 0 °F as 32 − 32 has the noise of 32
 * @param digits significant digits of a number of that size
 */
function withoutNoise(value: number, size: number, digits: number): number {
  const decimals = digits - 1 - Math.floor(Math.log10(size));
  if (!Number.isFinite(decimals) || decimals > 100) return value;
  return Number(decimals < 0 ? value.toPrecision(digits) : value.toFixed(decimals)) + 0;
}

export function toSent(scale: Scale, shown: number): number {
  if (isAsSent(scale)) return shown;
  const { factor, offset } = scale;
  const size = Math.max(Math.abs(shown), Math.abs(offset)) / factor;
  return withoutNoise((shown - offset) / factor, size, DIGITS.sent);
}

/** @param sent limit in the unit that the sensor sends @returns the limit as a user types it, without the unit */
export function limitText(scale: Scale, sent: number): string {
  if (isAsSent(scale)) return String(sent);
  const size = Math.max(Math.abs(sent * scale.factor), Math.abs(scale.offset));
  return String(withoutNoise(toShown(scale, sent), size, DIGITS.shown));
}

/**
 * Parses a limit that a user typed.
 *
 * @param known stored limit; if the text is unchanged, exactly this limit is returned
 * @returns limit in the unit that the sensor sends; NaN: the text is empty or no number
 */
export function limitOf(scale: Scale, text: string, known?: number): number {
  const trimmed = text.trim();
  if (known !== undefined && limitText(scale, known) === trimmed) return known;
  const shown = readNumber(trimmed);
  return shown === null ? Number.NaN : toSent(scale, shown);
}
