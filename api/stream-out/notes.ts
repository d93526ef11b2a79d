import { forEachConcurrently } from '../../common/concurrency.js';
import { digestOf } from '../../schema/packed/pack.js';
import { bucketOf } from '../../schema/rules.js';
import { DIGEST_BYTES, MAX_DIGESTS_PER_NOTE } from '../store/index.js';

/** @import { Retry } from '../store/sending/retry.js' */
/** @import { OutboxEntry } from '../store/outbox.js' */
/** @import { StreamStore } from '../store/streaming.js' */

/**
 * Time in ms between the first block of a note and the write of the note. If a process is killed, the blocks of its unwritten
 * notes are sent a second time.
 */
const WRITE_AFTER_MS = 10 * 60_000;

const WRITES_AT_ONCE = 16;

/** Initial room of a note, in digests. The room doubles when it is full. A device with one message a minute needs 60 digests in an hour. */
const FIRST_DIGESTS = 16;

/**
 * Returns the id under which the notes of a group's outbox entries are stored in place of a device id. No device has this id.
 *
 * @param {number} group shard of devices
 * @returns {Buffer} 16 bytes
 */
export function outboxOwner(group) {
  const owner = Buffer.alloc(16);
  owner.writeUInt32BE(group, 12);
  return owner;
}

/** @param {OutboxEntry} entry @returns {Buffer} 8 bytes */
export const outboxDigest = ({ kind, id }) => digestOf(Buffer.from(`${kind} ${id}`));

/**
 * An unwritten note: the digests of the sent blocks of one device and hour.
 *
 * @typedef {{ device: Buffer, bucket: number, digests: Buffer, length: number, since: number }} OpenNote
 */

/**
 * Collects the digests of blocks that are in Kafka, and writes them as compact rows, which are called notes: usually one row for
 * each device and hour. The completion of an hour sends only blocks that are missing in the notes.
 */
export class SentNotes {
  #store;
  #retry;
  #clock;
  /** Notes by the Buffer object of the device id, and by hour. @type {Map<Buffer, Map<number, OpenNote>>} */
  #open = new Map();
  /**
   * Ids for the notes of outbox entries, by group. `add` finds a note by the Buffer object, so each group needs the same object
   * in each call.
   *
   * @type {Map<number, Buffer>}
   */
  #owners = new Map();
  /** Full notes that wait to be written. @type {OpenNote[]} */
  #full = [];

  /** @param {{ store: Pick<StreamStore, 'writeNote'>, retry: Retry, clock: () => number }} deps `clock`: epoch ms */
  constructor({ store, retry, clock }) {
    this.#store = store;
    this.#retry = retry;
    this.#clock = clock;
  }

  /**
   * Adds the digest of a block that Kafka has.
   *
   * @param {Buffer} device 16 bytes; the same Buffer object in each call for a device
   * @param {number} bucket epoch ms
   * @param {Buffer} digest
   */
  add(device, bucket, digest) {
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

  /**
   * Adds the digest of an outbox entry whose record Kafka has.
   *
   * @param {number} group shard of devices
   * @param {number} noticed hour of the outbox entry, in epoch ms
   * @param {OutboxEntry} entry
   */
  addAnnounced(group, noticed, entry) {
    const owner = this.#owners.get(group) ?? outboxOwner(group);
    this.#owners.set(group, owner);
    this.add(owner, noticed, outboxDigest(entry));
  }

  /** Writes the notes that are full, that began WRITE_AFTER_MS ago, or whose hour has ended. */
  async writeDue() {
    const now = this.#clock();
    await this.#write(({ since, bucket }) => now - since >= WRITE_AFTER_MS || bucket < bucketOf(now));
  }

  /** Writes the notes of hours before `until`. @param {number} until epoch ms */
  async writeBefore(until) {
    await this.#write(({ bucket }) => bucket < until);
  }

  /** Writes all notes. */
  async writeAll() {
    await this.#write(() => true);
  }

  /** @param {(note: OpenNote) => boolean} isDue */
  async #write(isDue) {
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

  /** @param {OpenNote} note */
  #close(note) {
    const hours = this.#open.get(note.device);
    // After this note was full, the device may have begun another note for the same hour.
    if (hours?.get(note.bucket) !== note) return;
    hours.delete(note.bucket);
    if (hours.size === 0) this.#open.delete(note.device);
  }
}
