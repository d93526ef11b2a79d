import { accessSync, constants } from 'node:fs';
import { z } from 'zod';
import { parseDuration } from '../durations.ts';
import { messageOf } from '../errors.ts';

/**
 * The types of settings. Each function returns a schema that turns the text of a setting into its value. An error message continues the
 * setting's name: "HTTP_PORT" "must be a whole number from 0 to 65535". `values` describes the valid values in `.env.example` and
 * the manual.
 */

export const text = (values: string = 'text') => z.string().meta({ values });

export const flag = () =>
  z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .transform((value) => value === 'true')
    .meta({ values: 'true or false' });

/** @param max such as `7d`; the value of the setting is in ms */
export function duration(min: string, max: string) {
  const error = `must be a duration such as 5m or 7d, from ${min} to ${max}`;
  return z
    .string()
    .transform(parseDuration)
    .pipe(
      z
        .number({ error })
        .min(Number(parseDuration(min)), { error })
        .max(Number(parseDuration(max)), { error }),
    )
    .meta({ values: `duration, ${min} to ${max}` });
}

export function integer(min: number, max: number, unit: string = '') {
  const error = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .trim()
    .min(1, { error })
    .transform(Number)
    .pipe(z.int({ error }).min(min, { error }).max(max, { error }))
    .meta({ values: `${min} to ${max}${unit && ` ${unit}`}` });
}

export const oneOf = <W extends string>(words: readonly [W, ...W[]]) =>
  z
    .enum(words, { error: `must be one of ${words.join(', ')}` })
    .meta({ values: `${words.slice(0, -1).join(', ')} or ${words.at(-1)}` });

export function someOf<W extends string>(words: readonly [W, ...W[]]) {
  const error = `must be some of ${words.join(', ')}, separated by commas`;
  return z
    .string()
    .transform((value) => value.split(',').map((word) => word.trim()))
    .pipe(z.array(z.enum(words, { error })))
    .meta({ values: `some of ${words.join(', ')}, separated by commas` });
}

/** @param rule the error message, which describes valid values */
export const matching = (pattern: RegExp, rule: string) =>
  z
    .string()
    .regex(pattern, { error: `must be ${rule}` })
    .meta({ values: rule });

/** Null: the file can be read. */
export function whyUnreadable(path: string): string | null {
  try {
    accessSync(path, constants.R_OK);
    return null;
  } catch (error) {
    return `cannot be read: ${messageOf(error)}`;
  }
}

export const readableFile = () =>
  z
    .string()
    .superRefine((path, context) => {
      const message = whyUnreadable(path);
      if (message) context.addIssue({ code: 'custom', message });
    })
    .meta({ values: 'path of a file' });

/** Separated by commas or, in a file, by line breaks. */
export const tokens = () =>
  z
    .string()
    .transform((value) =>
      value
        .split(/[,\r\n]/)
        .map((item) => item.trim())
        .filter(Boolean),
    )
    .meta({ values: 'texts, separated by commas' });

/** Each is a scope, a token, and the part of the installation that the token reaches. A message never shows a token. */
export const boundTokens = (part: string) =>
  tokens()
    .transform((items, context) =>
      items.flatMap((item, index) => {
        const [, scope, token, place] = /^(read|ingest|admin)\s+(\S+)\s+(.+)$/.exec(item) ?? [];
        if (scope && token && place) return { scope: scope as 'read' | 'ingest' | 'admin', token, place };
        const message = `must be SCOPE TOKEN ${part}, separated by commas; item ${index + 1} is not`;
        context.addIssue({ code: 'custom', message });
        return [];
      }),
    )
    .meta({ values: `SCOPE TOKEN ${part}, separated by commas` });

/** Such as `Quality!=OK*`. */
export const conditions = () =>
  tokens()
    .superRefine((items, context) => {
      const wrong = items.find((item) => !/^[^=!]+!?=/.test(item));
      if (wrong === undefined) return;
      const message = `must be NAME=VALUE or NAME!=VALUE, separated by commas; "${wrong}" is not`;
      context.addIssue({ code: 'custom', message });
    })
    .meta({ values: 'NAME=VALUE or NAME!=VALUE, separated by commas' });

const ADDRESS = /^(\[[0-9a-f:.]+\]|[^\s:[\]]+)(?::(\d{1,5}))?$/i;

function isAddress(item: string) {
  const [whole, , port] = ADDRESS.exec(item) ?? [];
  return whole !== undefined && (port === undefined || (Number(port) >= 1 && Number(port) <= 65_535));
}

export const addresses = () =>
  z
    .string()
    .transform((value) => value.split(',').map((item) => item.trim()))
    .superRefine((items, context) => {
      const wrong = items.find((item) => !isAddress(item));
      if (wrong === undefined) return;
      const message = `must be host[:port], comma-separated, IPv6 in brackets; "${wrong}" is not`;
      context.addIssue({ code: 'custom', message });
    })
    .meta({ values: 'host[:port], separated by commas, IPv6 in brackets' });

/** No user and no password, because Millrace prints and logs URLs. */
export const brokerUrl = () =>
  z
    .string()
    .refine((value) => /^mqtts?:\/\/[^\s/@?#]+$/.test(value) && URL.canParse(value), {
      error: 'must be mqtt://host:port or mqtts://host:port, without user, password and path',
    })
    .meta({ values: 'mqtt://host:port or mqtts://host:port' });

/** For requests of Millrace. No user and no password, because Millrace logs URLs. */
export const webAddress = () =>
  z
    .string()
    .refine((value) => /^https?:\/\/[^\s/@?#]+/.test(value) && URL.canParse(value), {
      error: 'must be http://host/path or https://host/path, without user and password',
    })
    .meta({ values: 'http://host/path or https://host/path' });
