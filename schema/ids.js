import { createHash } from 'node:crypto';
import { v5 } from 'uuid';

/**
 * The namespace of device names: device `collar-0001` has the id `uuidv5(NS, 'collar-0001')`, and its sensor
 * `temperature` the id `uuidv5(<that id>, 'temperature')`. It never changes: every stored id depends on it.
 */
export const NS = '6f1c2f3e-52a4-4d0b-9a57-1d0c3b7e8a44';

const MAX_NAME_BYTES = 128;
const UUID_BYTES = 16;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
// C0 and C1 control characters, DEL, and lone surrogates: none of them survives topics, logs and UTF-8 unchanged. A decoder writes the
// replacement character U+FFFD for bytes that are no UTF-8, so two different names would become one.
const UNPRINTABLE = /[\p{Cc}\p{Cs}\uFFFD]/u;

/**
 * The resolved name of a device or a sensor.
 *
 * @typedef {object} Identity
 * @property {string} id lower-case UUID
 * @property {Buffer} bytes the id's 16 bytes
 * @property {string | null} name the text given, or null when it was a UUID
 */

/** @param {unknown} text @returns {text is string} whether this can be called a name: 1 to 128 bytes of UTF-8, no controls */
export const isName = (text) =>
  typeof text === 'string' &&
  text.length > 0 &&
  text.length <= MAX_NAME_BYTES &&
  Buffer.byteLength(text) <= MAX_NAME_BYTES &&
  !UNPRINTABLE.test(text);

/** @param {unknown} text that `isName` rejects @returns {string} the rule that it breaks */
export function brokenNameRule(text) {
  if (typeof text !== 'string') return 'must be a text';
  if (text === '') return 'must not be empty';
  if (Buffer.byteLength(text) > MAX_NAME_BYTES) return `must not be longer than ${MAX_NAME_BYTES} bytes`;
  if (text.includes('\uFFFD')) return 'must be UTF-8, without the replacement character U+FFFD';
  return 'must not contain control characters';
}

/**
 * @param {string} namespace a UUID: `NS` for devices, the device's id for its sensors
 * @param {unknown} text a lower-case UUID, or a name kept as given (an upper-case UUID is a name)
 * @returns {Identity | null} null when it is neither
 */
function identify(namespace, text) {
  if (typeof text !== 'string') return null;
  if (UUID.test(text)) return { id: text, bytes: uuidBytes(text), name: null };
  if (!isName(text)) return null;
  const bytes = v5(text, uuidBytes(namespace), Buffer.alloc(UUID_BYTES));
  return { id: uuidText(bytes), bytes, name: text };
}

/** @param {unknown} text @returns {Identity | null} */
export const identifyDevice = (text) => identify(NS, text);

/** @param {string} deviceId @param {unknown} text @returns {Identity | null} */
export const identifySensor = (deviceId, text) => identify(deviceId, text);

/** @param {string} id a UUID @returns {Buffer} its 16 bytes; unlike `uuid.parse`, any version and variant is taken */
export function uuidBytes(id) {
  // The registry keeps ids of the whole fleet. `Buffer.from` would cut them from a pool of up to 64 KiB, and keep all of it alive.
  const bytes = Buffer.alloc(UUID_BYTES);
  bytes.write(id.replaceAll('-', ''), 'hex');
  return bytes;
}

/** @param {Uint8Array} bytes 16 of them @returns {string} lower-case UUID */
export const uuidText = (bytes) => {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, 16).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
};

/**
 * The group of a device: which partition of `device`, `latest` and the indexes it lives in.
 * The first 4 bytes of SHA-256 over the id's 16 bytes, big-endian, modulo the number of groups: any language has it,
 * and it spreads ids that count upwards as well as random ones.
 *
 * @param {Uint8Array} deviceBytes 16 bytes
 * @param {number} groups `LATEST_GROUPS`
 */
export const groupOf = (deviceBytes, groups) =>
  createHash('sha256').update(deviceBytes).digest().readUInt32BE(0) % groups;
