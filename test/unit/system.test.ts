import { expect, test } from '@jest/globals';
import pino from 'pino';
import { FEATURES } from '../../api/features/index.ts';
import { startSystem } from '../../api/system.ts';
import { readSettings } from '../../common/settings/index.ts';
import { createMemoryStore } from '../support/memory-store/index.ts';

test('Process: a feature cannot be created: the process does not start, and its connection to the database is closed', async () => {
  const { store } = await createMemoryStore({ clock: Date.now });
  let isClosed = false;
  const close = async () => {
    isClosed = true;
  };
  FEATURES.push({ name: 'broken', create: () => Promise.reject(new Error('broken')) });
  try {
    const starting = startSystem({
      config: readSettings({ CURSOR_SECRET: 'c'.repeat(64) }, { envFile: '' }),
      version: 'test',
      logger: pino({ level: 'silent' }),
      onFatal: () => {},
      openStore: async () => ({ ...store, close }),
    });
    await expect(starting).rejects.toThrow('broken');
    expect(isClosed).toBe(true);
  } finally {
    FEATURES.pop();
  }
});
