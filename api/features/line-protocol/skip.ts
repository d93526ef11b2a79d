import { globOf } from '../../../common/globs.ts';

const WORDS = new Map([
  ['true', 1],
  ['false', 0],
]);

/**
 * `LINE_SKIP` leaves out values that devices send instead of a measurement. `NAME=VALUE` leaves out a field with this
 * number, and the whole line if NAME is a tag or a field with this text. `NAME!=VALUE` leaves out each line in which
 * NAME has another value.
 */
export class LineSkip {
  #conditions;

  /** The setting has checked their form, such as `Quality!=OK*`. */
  constructor(conditions: string[]) {
    this.#conditions = conditions.map(parse);
  }

  get isUsed() {
    return this.#conditions.length > 0;
  }

  /** Tags, or fields with a text. */
  dropsTexts(entries: Iterable<[key: string, text: string]>): boolean {
    for (const [key, text] of entries) {
      for (const { name, isNot, pattern } of this.#conditions)
        if (name.test(key) && pattern.test(text) !== isNot) return true;
    }
    return false;
  }

  /** Returns null if no condition names the field. */
  numbersOf(key: string): NumberConditions | null {
    const named = this.#conditions.filter(({ name }) => name.test(key));
    if (named.length === 0) return null;
    const numbersOf = (isNot: boolean) =>
      named.filter((each) => each.isNot === isNot).map(({ number }) => number);
    return { invalid: numbersOf(false), required: numbersOf(true) };
  }
}

/** `invalid`: numbers that are left out; `required`: the line is left out if the field has none of these numbers */
export type NumberConditions = { invalid: number[]; required: number[] };

function parse(condition: string) {
  const at = condition.indexOf('=');
  const isNot = condition.charAt(at - 1) === '!';
  const value = condition.slice(at + 1).trim();
  return {
    name: globOf(condition.slice(0, isNot ? at - 1 : at).trim()),
    isNot,
    pattern: globOf(value),
    number: value === '' ? Number.NaN : (WORDS.get(value) ?? Number(value)),
  };
}
