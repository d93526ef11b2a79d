import { expect, test } from '@jest/globals';
import { identifyDevice } from '../../../../schema/ids.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { LATER, T0, vector } from '../../../support/sparkplug/vectors.js';
import { startMemoryPipeline } from '../../../support/system/memory-pipeline.js';

/** @import { Identity } from '../../../../schema/ids.js' */

const TOPIC = 'spBv1.0/plant/NBIRTH/edge-1';

const afterwards = useCleanUps();

test('Sparkplug: NBIRTH of an earlier session with the DUP flag: the session and the clock of the node stay', async () => {
  const pipeline = await startMemoryPipeline({ clock: () => T0 + LATER });
  afterwards(() => pipeline.stop());
  const { id } = pipeline.keyOf('plant/edge-1');
  await pipeline.accept(TOPIC, vector('nbirth'));
  await pipeline.accept(TOPIC, vector('nbirthAgain'));
  const session = { session: T0 + LATER, endedSessions: [T0], clockOffset: 0, state: 'online' };
  expect(pipeline.ingest.peek(id)).toMatchObject(session);
  await pipeline.accept(TOPIC, vector('nbirth'), { dup: true });
  expect(pipeline.ingest.peek(id)).toMatchObject(session);
});

test('Sparkplug: NBIRTH of an earlier session of a retired node, AUTO_REGISTER is off: it registers no sensors', async () => {
  const settings = { AUTO_REGISTER: 'false' };
  const pipeline = await startMemoryPipeline({ clock: () => T0 + LATER, settings });
  afterwards(() => pipeline.stop());
  const sensors = async () => Object.keys(await pipeline.latest('plant/edge-1'));
  await pipeline.accept(TOPIC, vector('nbirth'));
  await pipeline.accept(TOPIC, vector('nbirthAgain'));
  expect(await sensors()).not.toEqual([]);
  await pipeline.ingest.retire(/** @type {Identity} */ (identifyDevice('plant/edge-1')));
  await pipeline.accept(TOPIC, vector('nbirth'), { dup: true });
  expect(await sensors()).toEqual([]);
});
