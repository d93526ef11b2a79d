import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { mosquittoKind } from '../../tools/acknowledgements/brokers.ts';
import { PIPELINES } from '../../tools/acknowledgements/pipelines.ts';
import { runScenario } from '../../tools/acknowledgements/run.ts';
import { SCENARIOS } from '../../tools/acknowledgements/scenarios.ts';
import type { SubjectKind } from '../../tools/acknowledgements/subjects.ts';
import { useCleanUps } from '../support/clean-ups.ts';
import { ENGINE_DIR } from '../support/database/engine.ts';

const afterwards = useCleanUps();

function run(kind: SubjectKind | undefined, scenario: string) {
  const dir = mkdtempSync(join(tmpdir(), 'millrace-acknowledgements-'));
  afterwards(() => rmSync(dir, { recursive: true, force: true }));
  const place = { dir, tools: join(ENGINE_DIR, '../tools'), onStatus() {} };
  return runScenario(kind as SubjectKind, SCENARIOS[scenario] as never, place);
}

test('Acknowledgements: queue of 10 messages: Mosquitto acknowledges 1,500 and loses all others', async () => {
  const small = mosquittoKind('Mosquitto', async () => ['max_queued_messages 10']);
  const outcome = await run(small, 'overflow');
  expect(outcome).toEqual({ acknowledged: 1500, lost: 1490, refused: 0, heldBack: false });
});

test('Acknowledgements: embedded broker, database stops and returns: it holds the publisher back and loses nothing', async () => {
  const outcome = await run(PIPELINES['millrace'], 'overflow');
  expect(outcome).toEqual({ acknowledged: 1500, lost: 0, refused: 0, heldBack: true });
});

test('Acknowledgements: embedded broker, kill -9: it loses nothing', async () => {
  expect(await run(PIPELINES['millrace'], 'broker')).toMatchObject({ lost: 0, refused: 0 });
});
