/**
 * Names of sensors that are joined from parts, such as the members around a value or a measurement and its field. Different parts never
 * give the same name, and parts without dots, backslashes and braces are joined as they are. Between two digits a plain dot belongs to a
 * part (`PM2.5`), and elsewhere it joins two parts (`battery.level`). A backslash before a dot marks the opposite.
 */

const DIGIT_AT_END = /\d$/;
const DIGIT_AT_START = /^\d/;

/** A backslash, and a dot that would be read as the end of a part. */
const SPECIAL = /\\|(?<!\d)\.|\.(?!\d)/g;
const SPECIAL_OR_BRACE = /[\\{]|(?<!\d)\.|\.(?!\d)/g;

export const nameOfPart = (part: string): string =>
  part.includes('.') || part.includes('\\') ? part.replaceAll(SPECIAL, '\\$&') : part;

const dotBetween = (before: string, after: string): string =>
  DIGIT_AT_END.test(before) && DIGIT_AT_START.test(after) ? '\\.' : '.';

export const joinNames = (before: string, after: string): string =>
  `${before}${dotBetween(before, after)}${after}`;

/** @param name null: the part is the first */
export const withPart = (name: string | null, part: string): string =>
  name === null ? nameOfPart(part) : joinNames(name, nameOfPart(part));

export const nameOfParts = (parts: string[]): string =>
  parts.reduce((name: string | null, part) => withPart(name, part), null) ?? '';

/** The parts as they were, joined by dots. */
export const withoutMarks = (name: string): string =>
  name.includes('\\') ? name.replaceAll(/\\(.)/gs, '$1') : name;

/** Measurements often have dots, which stay as they are. The last dot that joins two parts stands before the field. */
export function lineNames(
  measurement: string,
  tags: Iterable<[key: string, value: string]>,
): { prefix: string; suffix: string } {
  // Clients may write the tags of one series in any order.
  const sorted = [...tags].sort(([one], [other]) => (one < other ? -1 : 1));
  const suffix = sorted.map(([key, value]) => `${escapedTag(key)}=${escapedTag(value)}`).join();
  return { prefix: measurement.replaceAll(/[\\{]/g, '\\$&'), suffix: suffix && `{${suffix}}` };
}

export const lineName = ({ prefix, suffix }: { prefix: string; suffix: string }, field: string): string =>
  joinNames(prefix, field.replaceAll(SPECIAL_OR_BRACE, '\\$&')) + suffix;

const escapedTag = (text: string) => text.replaceAll(/[\\,=]/g, '\\$&');
