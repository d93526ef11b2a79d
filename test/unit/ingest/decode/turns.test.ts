import { expect, test } from '@jest/globals';
import { MessageDecoder } from '../../../../api/ingest/decode/index.ts';
import { readPayload } from '../../../../api/ingest/sparkplug/payload.ts';
import { longestTurn, MAX_TURN_MS } from '../../../support/event-loop.ts';
import { MQTT_INPUTS, SPARKPLUG_INPUTS } from '../../../support/hostile-inputs.ts';

const decoder = new MessageDecoder({ historyMs: 86_400_000, maxClockSkewMs: 300_000, relativeTimes: true });

test.each(MQTT_INPUTS)(
  'Message decoder: %s: no turn of the event loop over 100 ms',
  async (_, __, payload) => {
    const bytes = Buffer.from(payload);
    expect(await longestTurn(() => decoder.decode(bytes, undefined, Date.now()))).toBeLessThan(MAX_TURN_MS);
  },
);

test.each(SPARKPLUG_INPUTS)(
  'Sparkplug decoder: %s: no turn of the event loop over 100 ms',
  async (_, bytes) => {
    expect(await longestTurn(() => readPayload(bytes, 1_048_576))).toBeLessThan(MAX_TURN_MS);
  },
);
