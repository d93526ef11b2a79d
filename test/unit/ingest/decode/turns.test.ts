import { expect, test } from '@jest/globals';
import { MessageDecoder } from '../../../../api/ingest/decode/index.ts';
import { longestTurn, MAX_TURN_MS } from '../../../support/event-loop.ts';
import { MQTT_INPUTS } from '../../../support/hostile-inputs.ts';

const decoder = new MessageDecoder({ historyMs: 86_400_000, maxClockSkewMs: 300_000, relativeTimes: true });

test.each(MQTT_INPUTS)(
  'Message decoder: %s: no turn of the event loop over 100 ms',
  async (_, __, payload) => {
    const bytes = Buffer.from(payload);
    expect(await longestTurn(() => decoder.decode(bytes, undefined, Date.now()))).toBeLessThan(MAX_TURN_MS);
  },
);
