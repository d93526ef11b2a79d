import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { MillraceError } from '../../common/errors.ts';
import { readSettings, type SettingsGroup } from '../../common/settings/index.ts';

export const NO_ENV_FILE = join(tmpdir(), 'there', 'is', 'no', 'such', 'file');

/** @returns the lines of the error that `readSettings` throws; empty if the settings are valid */
export function problemsOf(environment: Record<string, string>, groups: SettingsGroup[] = []): string[] {
  try {
    readSettings(environment, { envFile: NO_ENV_FILE, groups });
    return [];
  } catch (error) {
    if (!(error instanceof MillraceError)) throw error;
    expect([error.code, error.exitCode]).toEqual(['bad_settings', 78]);
    const [heading, ...lines] = error.message.split('\n');
    expect(heading).toBe('Settings to correct:');
    return lines.map((line) => line.trim());
  }
}
