import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { BROKERS } from '../../tools/acknowledgements/brokers.ts';
import { PIPELINES } from '../../tools/acknowledgements/pipelines.ts';
import { runScenario } from '../../tools/acknowledgements/run.ts';
import { SCENARIOS } from '../../tools/acknowledgements/scenarios.ts';
import type { Prepare } from '../../tools/acknowledgements/subjects.ts';
import { useCleanUps } from '../support/clean-ups.ts';
import { ENGINE_DIR } from '../support/database/engine.ts';

const afterwards = useCleanUps();

function runAway(prepare: Prepare) {
  const dir = mkdtempSync(join(tmpdir(), 'millrace-acknowledgements-'));
  afterwards(() => rmSync(dir, { recursive: true, force: true }));
  return runScenario(prepare, SCENARIOS.away, {
    dir,
    tools: join(ENGINE_DIR, '../tools'),
    onStatus() {},
    signal: new AbortController().signal,
  });
}

test('Acknowledgements: queue of Mosquitto is full: it acknowledges all messages and loses 500', async () => {
  const outcome = await runAway(BROKERS.mosquitto);
  expect(outcome).toEqual({ acknowledged: 1500, lost: 500, refused: 0, heldBack: false });
});

test('Acknowledgements: embedded broker, database stops and returns: it holds the publisher back and loses nothing', async () => {
  const outcome = await runAway(PIPELINES.millrace);
  expect(outcome).toEqual({ acknowledged: 1500, lost: 0, refused: 0, heldBack: true });
});
