import { createHash } from 'node:crypto';
import { v5 } from 'uuid';

/**
 * Device `collar-0001` has the id `uuidv5(NS, 'collar-0001')`, and its sensor `temperature` the id `uuidv5(<that id>,
 * 'temperature')`. The namespace never changes, because every stored id depends on it.
 */
export const NS = '6f1c2f3e-52a4-4d0b-9a57-1d0c3b7e8a44';

const MAX_NAME_BYTES = 128;
const UUID_BYTES = 16;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
// C0 and C1 control characters, DEL, and lone surrogates do not pass unchanged through topics, logs and UTF-8. A decoder replaces bytes
// that are not UTF-8 by U+FFFD, so two different names could become the same name. A byte order mark makes two names that look alike.
const UNPRINTABLE = /[\p{Cc}\p{Cs}\uFFFD\uFEFF\uFFFE]/u;

declare const owner: unique symbol;

/** The 16 bytes of an id. A plain Buffer is accepted, but not the id of a sensor where the id of a device is wanted. */
export type DeviceBytes = Buffer & { readonly [owner]?: 'device' };

export type SensorBytes = Buffer & { readonly [owner]?: 'sensor' };

export interface Identity<Bytes = DeviceBytes> {
  id: string;
  bytes: Bytes;
  /** null: the message contains a UUID instead */
  name: string | null;
}

export type SensorIdentity = Identity<SensorBytes>;

export const isName = (text: unknown): text is string =>
  typeof text === 'string' &&
  text.length > 0 &&
  text.length <= MAX_NAME_BYTES &&
  Buffer.byteLength(text) <= MAX_NAME_BYTES &&
  !UNPRINTABLE.test(text);

/** @param text that `isName` rejects */
export function brokenNameRule(text: unknown): string {
  if (typeof text !== 'string') return 'must be a text';
  if (text === '') return 'must not be empty';
  if (Buffer.byteLength(text) > MAX_NAME_BYTES) return `must not be longer than ${MAX_NAME_BYTES} bytes`;
  if (text.includes('\uFFFD'))
    return 'must be UTF-8, without the replacement character U+FFFD, which stands for bytes of another encoding, such as Windows-1252';
  if (/[\uFEFF\uFFFE]/.test(text)) return 'must not contain a byte order mark';
  return 'must not contain control characters';
}

/**
 * @param namespace `NS` for devices, the device's id for its sensors
 * @param text a lower-case UUID, or a name (an upper-case UUID counts as a name)
 * @returns null: the text is neither
 */
function identify(namespace: string, text: unknown): Identity<Buffer> | null {
  if (typeof text !== 'string') return null;
  if (UUID.test(text)) return { id: text, bytes: uuidBytes(text), name: null };
  if (!isName(text)) return null;
  const bytes = v5(text, uuidBytes(namespace), Buffer.alloc(UUID_BYTES));
  return { id: uuidText(bytes), bytes, name: text };
}

export const identifyDevice = (text: unknown): Identity | null => identify(NS, text);

export const identifySensor = (deviceId: string, text: unknown): SensorIdentity | null =>
  identify(deviceId, text);

/** Unlike `uuid.parse`, this function accepts any version and variant. */
export function uuidBytes(id: string): Buffer {
  // The registry keeps the ids of all devices in memory. `Buffer.from` would slice each id from a shared pool of up to 64 KiB, and one id
  // would keep the whole pool in memory.
  const bytes = Buffer.alloc(UUID_BYTES);
  bytes.write(id.replaceAll('-', ''), 'hex');
  return bytes;
}

export const uuidText = (bytes: Uint8Array): string => {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, 16).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
};

/** 4 bytes of SHA-256, big-endian. Every language has SHA-256, and it distributes sequential ids as evenly as random ids. */
export const groupOf = (deviceBytes: Uint8Array, groups: number) =>
  createHash('sha256').update(deviceBytes).digest().readUInt32BE(0) % groups;
