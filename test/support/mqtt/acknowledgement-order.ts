import { expect, test } from '@jest/globals';
import { groupOf, type Identity, identifyDevice } from '../../../schema/ids.ts';
import type { HeldWrites, Hold } from '../database/held-writes.ts';

/** `LATEST_GROUPS` of the system under test. */
export const GROUPS = 4;

/** Number of sensors of a device whose hours are stored in several parts. */
const WIDE = 70;

const DAY_MS = 86_400_000;

export interface Transport {
  /** one message */
  send: (
    device: string,
    elements: object[],
  ) => { isAcknowledged: () => boolean; acknowledged: Promise<unknown> };
  /** sends a message of another device, and settles after its commit */
  sendAnother: (device: string) => Promise<void>;
  /** settles when all acknowledgements sent so far have arrived */
  flush: () => Promise<void>;
}

/** A write of one message, which must be committed before the acknowledgement. */
type HeldCase = { title: string; sensors?: number } & Hold;

export const WRITES_OF_A_MESSAGE: HeldCase[] = [
  { title: 'the registration of the device', write: 'registry.writeDevice' },
  { title: 'the registration of its sensors', write: 'registry.commit' },
  { title: 'the batch of one hour', write: 'write_measurements' },
  { title: 'the batch of another hour', write: 'write_measurements', nth: 2 },
  { title: 'latest', write: 'write_latest' },
  { title: 'latest of a single sensor', write: 'write_latest', sensors: 1 },
  { title: 'the parts of a wide hour', write: 'write_parts', sensors: WIDE },
  { title: 'the second part of a wide hour', write: 'write_measurements', nth: 2, sensors: WIDE },
  { title: 'last_seen', write: 'write_last_seen' },
  { title: 'the late samples of one sensor', write: 'history.writeSamples' },
  { title: 'the late samples of another sensor', write: 'history.writeSamples', nth: 2 },
  { title: 'the mark of the late hour', write: 'history.writeLate' },
  { title: 'the record of the late day', write: 'lateDays.write' },
  { title: 'the dead letter', write: 'deadLetters.write' },
];

/**
 * One message that needs every write of the list above: new sensors of a new device, samples of now, late samples of two
 * sensors, and an element that is refused.
 * @param now epoch ms
 * @param sensors 1 or more, default 2
 */
function messageOfAllWrites(now: number, sensors: number = 2): object[] {
  const names = Array.from({ length: sensors }, (_, index) => `s${index}`);
  const late = now - 10 * DAY_MS;
  return [
    ...names.map((name, index) => ({ sensor_id: name, ts: now, value: index })),
    ...names.slice(0, 2).map((name, index) => ({ sensor_id: name, ts: late, value: index })),
    { sensor_id: 'refused', ts: now, value: 'text' },
  ];
}

/**
 * Holds each write of a message in turn, once unchanged and once with an ingest that does not wait for it. The second case
 * proves that the check notices the mistake.
 * @param name of the transport
 */
export function testAcknowledgements(
  name: string,
  {
    writes,
    transport,
    cases = WRITES_OF_A_MESSAGE,
  }: {
    writes: HeldWrites;
    transport: Transport;
    cases?: HeldCase[];
  },
) {
  const isEarly = ({ title, sensors, write, nth }: HeldCase, answersEarly: boolean) => {
    const device = `${name}-${title}-${answersEarly}`.replaceAll(' ', '-');
    const elements = messageOfAllWrites(Date.now(), sensors);
    return isAcknowledgedEarly({ writes, transport, hold: { write, nth, answersEarly }, device, elements });
  };

  test.each(cases)(`${name}: $title waits for the database: message is not acknowledged`, async (held) => {
    expect(await isEarly(held, false)).toBe(false);
  });

  test.each(cases)(`${name}: variant does not wait for $title: the check reports it`, async (held) => {
    expect(await isEarly(held, true)).toBe(true);
  });
}

/**
 * Holds one write of a message. Everything else is committed: the other writes of the message, and a later
 * message of another device.
 * @returns whether the message was acknowledged before the write was committed
 */
async function isAcknowledgedEarly({
  writes,
  transport,
  hold,
  device,
  elements,
}: {
  writes: HeldWrites;
  transport: Transport;
  hold: Hold;
  /** not yet registered */
  device: string;
  elements: object[];
}): Promise<boolean> {
  const held = writes.hold(hold);
  const message = transport.send(device, elements);
  try {
    await held.reached();
    await writes.quiet();
    await transport.sendAnother(neighborOf(device));
    await transport.flush();
    return message.isAcknowledged();
  } finally {
    await held.release();
    await message.acknowledged;
  }
}

/** @returns a device of another group of `latest`, so that its newest values never wait for those of the first */
export function neighborOf(device: string): string {
  for (let index = 0; ; index++) {
    const name = `${device}-${index}`;
    if (groupIndex(name) !== groupIndex(device)) return name;
  }
}

function groupIndex(device: string) {
  const { bytes } = identifyDevice(device) as Identity;
  return groupOf(bytes, GROUPS);
}
