import { ERRORS, type ErrorCode, MillraceError, type Refusal } from '../../../common/errors.ts';
import { MAX_SENSORS_PER_DEVICE } from '../../../schema/rules.ts';

/** `sensor`, `ts` and `value` stand for the names of these fields in the format. Any other field has its own name. */
export type PathOf = (index: number, field?: string) => string;

/** `element`: begin of the path; `names`: of fields in the format */
export const pathsOf =
  (element: (index: number) => string, names: Record<string, string>): PathOf =>
  (index, field) => {
    const begin = element(index);
    if (field === undefined) return begin;
    const name = names[field] ?? field;
    return begin === '' ? name : `${begin}.${name}`;
  };

const inArray = (index: number) => `[${index}]`;
const PLAIN = { sensor: 'sensor_id' };

/** Only refusals make paths: a path for each measurement would cost time on the hot path. */
export const PATHS = {
  array: pathsOf(inArray, PLAIN),
  object: pathsOf(() => '', PLAIN),
  senml: pathsOf(inArray, { sensor: 'n', ts: 't', value: 'v' }),
  birth: pathsOf((index) => `sensors[${index}]`, {}),
};

/** A decoder may give a more precise rule. */
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

/** Limit in characters for a dead letter, because an error message may quote the payload. */
const MAX_RULE_LENGTH = 200;

export const wholeRefusal = (code: ErrorCode, rule: string = ruleOf(code), path: string = ''): Refusal => ({
  index: -1,
  code,
  path,
  rule,
});

export function refusalOf(code: ErrorCode, error: unknown): Refusal {
  // A database error quotes statements and hosts, and a defect belongs in the log, so clients do not get these texts.
  if (!(error instanceof MillraceError) || code === 'rejected') return wholeRefusal(code);
  return wholeRefusal(code, error.message.slice(0, MAX_RULE_LENGTH), error.path);
}
