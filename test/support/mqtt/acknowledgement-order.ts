import { expect, test } from '@jest/globals';
import { groupOf, identifyDevice } from '../../../schema/ids.js';

/** @import { Identity } from '../../../schema/ids.js' */
/** @import { HeldWrites, Hold } from '../database/held-writes.js' */

/** `LATEST_GROUPS` of the system under test. */
export const GROUPS = 4;

/** Number of sensors of a device whose hours are stored in several parts. */
const WIDE = 70;

const DAY_MS = 86_400_000;

/**
 * A transport that brings messages to ingest.
 *
 * @typedef {object} Transport
 * @property {(device: string, elements: object[]) => { isAcknowledged: () => boolean, acknowledged: Promise<unknown> }} send one message
 * @property {(device: string) => Promise<void>} sendAnother sends a message of another device, and settles after its commit
 * @property {() => Promise<void>} flush settles when all acknowledgements sent so far have arrived
 */

/**
 * A write of one message, which must be committed before the acknowledgement.
 *
 * @typedef {{ title: string, sensors?: number } & Hold} HeldCase
 */

/** @type {HeldCase[]} */
export const WRITES_OF_A_MESSAGE = [
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
 *
 * @param {number} now epoch ms
 * @param {number} [sensors] 1 or more, default 2
 * @returns {object[]}
 */
function messageOfAllWrites(now, sensors = 2) {
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
 *
 * @param {string} name of the transport
 * @param {object} options
 * @param {HeldWrites} options.writes
 * @param {Transport} options.transport
 * @param {HeldCase[]} [options.cases]
 */
export function testAcknowledgements(name, { writes, transport, cases = WRITES_OF_A_MESSAGE }) {
  /** @param {HeldCase} held @param {boolean} answersEarly */
  const isEarly = ({ title, sensors, write, nth }, answersEarly) => {
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
 *
 * @param {object} options
 * @param {HeldWrites} options.writes
 * @param {Transport} options.transport
 * @param {Hold} options.hold
 * @param {string} options.device not yet registered
 * @param {object[]} options.elements
 * @returns {Promise<boolean>} whether the message was acknowledged before the write was committed
 */
async function isAcknowledgedEarly({ writes, transport, hold, device, elements }) {
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

/**
 * @param {string} device
 * @returns {string} a device of another group of `latest`, so that its newest values never wait for those of the first
 */
export function neighborOf(device) {
  for (let index = 0; ; index++) {
    const name = `${device}-${index}`;
    if (groupIndex(name) !== groupIndex(device)) return name;
  }
}

/** @param {string} device */
function groupIndex(device) {
  const { bytes } = /** @type {Identity} */ (identifyDevice(device));
  return groupOf(bytes, GROUPS);
}
