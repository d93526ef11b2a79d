import { ERRORS, type ErrorCode, MillraceError, type Refusal } from '../../../common/errors.ts';
import { MAX_SENSORS_PER_DEVICE } from '../../../schema/rules.ts';

/**
 * Makes the JSON path of an element, or of one of its fields. `sensor`, `ts` and `value` stand for the names of these three fields in
 * the format. Any other field has its own name.
 */
export type PathOf = (index: number, field?: string) => string;

const paths =
  (element: (index: number) => string, names: Record<string, string>): PathOf =>
  (index, field) => {
    const begin = element(index);
    if (field === undefined) return begin;
    const name = names[field] ?? field;
    return begin === '' ? name : `${begin}.${name}`;
  };

const inArray = (index: number) => `[${index}]`;
const PLAIN = { sensor: 'sensor_id' };

/** Functions that make the paths of each format. Only refusals call them: a path for each measurement would cost time on the hot path. */
export const PATHS = {
  array: paths(inArray, PLAIN),
  object: paths(() => '', PLAIN),
  senml: paths(inArray, { sensor: 'n', ts: 't', value: 'v' }),
  sparkplug: paths((index) => `metrics[${index}]`, { sensor: 'name', ts: 'timestamp' }),
  birth: paths((index) => `sensors[${index}]`, {}),
};

/** The broken rule of one element, by error code. A decoder may give a more precise rule. */
const RULES: Partial<Record<ErrorCode, string>> = {
  malformed: 'must be an object',
  bad_timestamp: 'must be whole epoch milliseconds or ISO 8601',
  not_finite: 'must be a finite number',
  not_numeric: 'must be a number',
  unknown_device: 'its device must be registered',
  unknown_sensor: 'must name a registered sensor',
  registration_limit: `its device must not have more than ${MAX_SENSORS_PER_DEVICE} sensors`,
  rejected: 'the database refuses this content',
};

export const ruleOf = (code: ErrorCode): string => RULES[code] ?? ERRORS[code].title;

/** Maximum length of a rule in a dead letter, in characters. A longer rule is cut off, because an error message may quote the payload. */
const MAX_RULE_LENGTH = 200;

/** @returns a refusal of the whole message */
export const wholeRefusal = (code: ErrorCode, rule: string = ruleOf(code), path: string = ''): Refusal => ({
  index: -1,
  code,
  path,
  rule,
});

/**
 * Makes the refusal of a whole message from an error.
 * @param code code of the refusal
 * @param error the reason why the message is refused
 */
export function refusalOf(code: ErrorCode, error: unknown): Refusal {
  // The texts of these errors are not for clients. A database error quotes statements and hosts, and a defect belongs in the log.
  if (!(error instanceof MillraceError) || code === 'rejected') return wholeRefusal(code);
  return wholeRefusal(code, error.message.slice(0, MAX_RULE_LENGTH), error.path);
}
