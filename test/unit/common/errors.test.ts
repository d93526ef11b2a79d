import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { ERRORS, type ErrorEntry, MillraceError } from '../../../common/errors.ts';
import { isUnplugged } from '../../support/unplugged.ts';

const table = Object.entries(ERRORS) as [keyof typeof ERRORS, ErrorEntry][];

/** The features of codes that nothing else uses. */
const ONLY_IN: Record<string, string> = {
  asset_circle: 'api/features/assets',
  asset_exists: 'api/features/assets',
  asset_in_use: 'api/features/assets',
  asset_level: 'api/features/assets',
  bad_file: 'api/features/import',
  credential_exists: 'api/features/credentials',
  lines_refused: 'api/features/line-protocol',
  no_session: 'api/features/external-broker',
  not_all_replayed: 'api/features/dead-letters',
  too_late: 'api/features/corrections',
  other_session: 'api/features/sparkplug',
  query_too_large: 'api/features/shared',
  session_taken: 'api/features/external-broker',
};

test('Error table: codes: each is used in the source', () => {
  const sources = ['api', 'common', 'infra', 'schema', 'simulator']
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
    )
    .filter((path) => /(?<!^common\/errors)\.[jt]s$/.test(path))
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');
  const isUsed = ([code]: (typeof table)[number]) =>
    sources.includes(`'${code}'`) || isUnplugged(ONLY_IN[code] ?? '');
  expect(table.filter((entry) => !isUsed(entry))).toEqual([]);
});

test('Error table: HTTP status: only errors that clients see have one', () => {
  for (const [, { kind, status, exit }] of table) {
    if (kind === 'stop') expect(status).toBeUndefined();
    else expect([status !== undefined && status >= 400 && status <= 599, exit]).toEqual([true, undefined]);
  }
});

test('Error table: exit codes: unique, and different from those of shells and signals', () => {
  const exits = table.flatMap(([, { exit }]) => exit ?? []);
  expect(new Set(exits).size).toBe(exits.length);
  expect(exits).toHaveLength(table.filter(([, { kind }]) => kind === 'stop').length);
  expect(exits.filter((exit) => exit < 0 || exit > 125)).toEqual([]);
});

test('Error table: codes of refused messages: exactly those of the message contract', () => {
  expect(table.filter(([, { kind }]) => kind === 'refusal').map(([code]) => code)).toEqual([
    'malformed',
    'unknown_format',
    'bad_id',
    'bad_timestamp',
    'too_old',
    'in_future',
    'not_finite',
    'not_numeric',
    'too_large',
    'unknown_device',
    'unknown_sensor',
    'registration_limit',
    'other_session',
    'rejected',
  ]);
});

test('MillraceError: created with all options: it has the passed code, message, cause and details, and the HTTP status of the code', () => {
  const cause = new Error('ECONNREFUSED');
  const error = new MillraceError('unavailable', 'Try again in a minute', {
    cause,
    details: { retry: 60 },
  });
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({
    name: 'MillraceError',
    code: 'unavailable',
    message: 'Try again in a minute',
  });
  expect([error.cause, error.details, error.status]).toEqual([cause, { retry: 60 }, 503]);
});
