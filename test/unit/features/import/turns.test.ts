import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { type ImportOptions, importStream } from '../../../../api/features/import/files.ts';
import { longestTurn, MAX_TURN_MS } from '../../../support/event-loop.ts';
import { IMPORT_INPUTS } from '../../../support/hostile-inputs.ts';

/** Registers every name, and stores nothing. */
const ingest = {
  pastSamples: {
    look: async (_: unknown, names: string[]) => ({
      device: {},
      known: new Map(names.map((name) => [name, { bytes: name }])),
      refused: new Map(),
    }),
    write: async () => {},
  },
  acceptedTimes: async () => ({ oldest: 0, newest: Number.MAX_SAFE_INTEGER }),
} as never;

const OPTIONS: ImportOptions = {
  device: 'd',
  skip: 0,
  dryRun: false,
  onRefused() {},
  onProgress() {},
  signal: new AbortController().signal,
};

/** @param body in the pieces in which Node.js reads a request */
async function* piecesOf(body: string | Uint8Array) {
  const bytes = Buffer.from(body);
  for (let at = 0; at < bytes.length; at += 65_536) {
    yield bytes.subarray(at, at + 65_536);
    await nextTurn();
  }
}

test.each(IMPORT_INPUTS)('Import: %s: no turn of the event loop over 100 ms', async (_, type, body) => {
  const format = type === 'text/csv' ? 'csv' : 'ndjson';
  const turn = await longestTurn(() => importStream(ingest, { source: piecesOf(body), format }, OPTIONS));
  expect(turn).toBeLessThan(MAX_TURN_MS);
});
