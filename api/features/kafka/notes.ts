import { forEachConcurrently } from '../../../common/concurrency.ts';
import type { DeviceBytes } from '../../../schema/ids.ts';
import { digestOf } from '../../../schema/packed/pack.ts';
import { bucketOf } from '../../../schema/rules.ts';
import type { OutboxEntry } from '../../store/outbox.ts';
import type { Retry } from '../../store/sending/retry.ts';
import { DIGEST_BYTES, MAX_DIGESTS_PER_NOTE, type StreamStore } from './store.ts';

/** In ms since the first block of a note. If a process is killed, the blocks of its unwritten notes are sent a second time. */
const WRITE_AFTER_MS = 10 * 60_000;

const WRITES_AT_ONCE = 16;

/** In digests. The room doubles when it is full. A device with one message a minute needs 60 digests in an hour. */
const FIRST_DIGESTS = 16;

/** Notes of a group's outbox entries are stored under these 16 bytes in place of a device id. No device has this id. */
export function outboxOwner(group: number): Buffer {
  const owner = Buffer.alloc(16);
  owner.writeUInt32BE(group, 12);
  return owner;
}

/** 8 bytes. */
export const outboxDigest = ({ kind, id }: OutboxEntry): Buffer => digestOf(Buffer.from(`${kind} ${id}`));

/** Digests of the sent blocks of one device and hour. */
type OpenNote = { device: DeviceBytes; bucket: number; digests: Buffer; length: number; since: number };

/**
 * Collects the digests of blocks that are in Kafka, and writes them as compact rows (notes): usually one row for each device and hour. The
 * completion of an hour sends only blocks that the notes lack.
 */
export class SentNotes {
  #store;
  #retry;
  #clock;
  /** By the Buffer object of the device id, and by hour. */
  #open: Map<DeviceBytes, Map<number, OpenNote>> = new Map();
  /** By group. `add` finds a note by the Buffer object, so each group needs the same object in each call. */
  #owners: Map<number, Buffer> = new Map();
  #full: OpenNote[] = [];

  constructor({
    store,
    retry,
    clock,
  }: { store: Pick<StreamStore, 'writeNote'>; retry: Retry; clock: () => number }) {
    this.#store = store;
    this.#retry = retry;
    this.#clock = clock;
  }

  /** `device` must be the same Buffer object (16 bytes) in each call for a device. `bucket`: epoch ms. */
  add(device: DeviceBytes, bucket: number, digest: Buffer) {
    const hours = this.#open.get(device) ?? new Map();
    if (hours.size === 0) this.#open.set(device, hours);
    let note = hours.get(bucket);
    if (!note) {
      note = {
        device,
        bucket,
        digests: Buffer.allocUnsafe(FIRST_DIGESTS * DIGEST_BYTES),
        length: 0,
        since: this.#clock(),
      };
      hours.set(bucket, note);
    }
    if (note.length === note.digests.length) {
      const larger = Buffer.allocUnsafe(2 * note.length);
      note.digests.copy(larger, 0, 0, note.length);
      note.digests = larger;
    }
    note.length += digest.copy(note.digests, note.length);
    if (note.length < MAX_DIGESTS_PER_NOTE * DIGEST_BYTES) return;
    this.#close(note);
    this.#full.push(note);
  }

  /** `noticed`: hour of the outbox entry, in epoch ms. */
  addAnnounced(group: number, noticed: number, entry: OutboxEntry) {
    const owner = this.#owners.get(group) ?? outboxOwner(group);
    this.#owners.set(group, owner);
    this.add(owner, noticed, outboxDigest(entry));
  }

  async writeDue() {
    const now = this.#clock();
    await this.#write(({ since, bucket }) => now - since >= WRITE_AFTER_MS || bucket < bucketOf(now));
  }

  async writeBefore(until: number) {
    await this.#write(({ bucket }) => bucket < until);
  }

  async writeAll() {
    await this.#write(() => true);
  }

  async #write(isDue: (note: OpenNote) => boolean) {
    const due = [
      ...this.#full.splice(0),
      ...[...this.#open.values()].flatMap((hours) => [...hours.values()]),
    ];
    const chosen = due.filter((note) => note.length === MAX_DIGESTS_PER_NOTE * DIGEST_BYTES || isDue(note));
    for (const note of chosen) this.#close(note);
    await forEachConcurrently(WRITES_AT_ONCE, chosen, ({ device, bucket, digests, length }) =>
      this.#retry.run(() => this.#store.writeNote(device, bucket, digests.subarray(0, length))),
    );
  }

  #close(note: OpenNote) {
    const hours = this.#open.get(note.device);
    // After this note was full, the device may have begun another note for the same hour.
    if (hours?.get(note.bucket) !== note) return;
    hours.delete(note.bucket);
    if (hours.size === 0) this.#open.delete(note.device);
  }
}
