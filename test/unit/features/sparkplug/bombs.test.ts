import { expect, test } from '@jest/globals';
import { decodePayload, readPayload } from '../../../../api/features/sparkplug/payload.ts';
import { longestTurn, MAX_TURN_MS } from '../../../support/event-loop.ts';
import { SPARKPLUG_INPUTS } from '../../../support/hostile-inputs.ts';

const MB = 1_000_000;

const bytes = (hex: string, rest: Buffer = Buffer.alloc(0)) => Buffer.concat([Buffer.from(hex, 'hex'), rest]);

test.each([
  ['protobuf groups in groups', Buffer.alloc(MB, 0x7b), 'malformed'],
  ['protobuf groups in groups of a metric', bytes('12c0843d', Buffer.alloc(MB, 0x7b)), 'malformed'],
  ['a metric with a header of 4 GB', bytes('12ffffffff0f'), 'malformed'],
  ['a number of too many bytes', bytes('08', Buffer.alloc(1000, 0xff)), 'malformed'],
  ['half a million empty metrics', Buffer.alloc(MB).map((_, at) => (at % 2 ? 0 : 0x12)), 'too_large'],
])('Sparkplug bomb: %s: refused as malformed or too large', (_, payload, code) => {
  expect(() => decodePayload(Buffer.from(payload))).toThrow(expect.objectContaining({ code }));
});

test.each(SPARKPLUG_INPUTS)(
  'Sparkplug decoder: %s: no turn of the event loop over 100 ms',
  async (_, bytes) => {
    expect(await longestTurn(() => readPayload(bytes, 1_048_576))).toBeLessThan(MAX_TURN_MS);
  },
);
