import { findAnnounced } from './announced.js';
import { chunks } from './kafka/sender.js';
import { outboxDigest, outboxOwner } from './notes.js';

/** @import { Steps } from '../history/packing/index.js' */
/** @import { Store } from '../store/index.js' */
/** @import { OutboxEntry, OutboxKind } from '../store/outbox.js' */
/** @import { OutRecord } from './kafka/sender.js' */
/** @import { RecordMaker, Source } from './record-maker.js' */

/** Limit of outbox entries whose items are read concurrently. */
const ENTRIES_AT_ONCE = 16;

/**
 * Returns a function that sends the events, dead letters and alarms of a closed hour that no process has sent. The database has
 * notes with the digests of sent items.
 *
 * @param {object} deps
 * @param {Pick<Store, 'streaming' | 'devices' | 'events' | 'deadLetters' | 'alarms'>} deps.store
 * @param {Steps} deps.steps
 * @param {RecordMaker} deps.records
 * @param {(records: OutRecord[]) => Promise<void>} deps.mustSend throws if the process ends before Kafka has the records
 */
export function createAnnouncedCompletion({ store, steps, records, mustSend }) {
  const { streaming } = store;

  /**
   * Sends the items of one hour and kind whose entries are in the outbox, but not in the notes of sent items. A replay ignores
   * the notes and sends all items.
   *
   * @param {number} group shard of devices
   * @param {number} hour epoch ms
   * @param {OutboxKind} kind
   * @param {Source} source
   * @returns {Promise<number>} number of sent records
   */
  async function sendAnnounced(group, hour, kind, source) {
    const sent =
      source === 'replay' ? new Set() : await steps.run(() => streaming.notes(outboxOwner(group), hour));
    let count = 0;
    /** @type {string | undefined} */
    let after;
    do {
      const page = await steps.run(() => streaming.outboxPage(group, hour, kind, after));
      const missing = page.items.filter((entry) => !sent.has(outboxDigest(entry).toString('hex')));
      for (let from = 0; from < missing.length; from += ENTRIES_AT_ONCE)
        count += await sendEntries({ group, hour, source }, missing.slice(from, from + ENTRIES_AT_ONCE));
      after = page.next;
    } while (after);
    return count;
  }

  /**
   * Sends the items of outbox entries, and notes their digests as sent.
   *
   * @param {{ group: number, hour: number, source: Source }} of
   * @param {OutboxEntry[]} entries
   * @returns {Promise<number>} number of sent records
   */
  async function sendEntries({ group, hour, source }, entries) {
    const looked = await Promise.all(
      entries.map((entry) => steps.run(() => findAnnounced(store, group, entry))),
    );
    const found = looked.filter((announcement) => announcement !== null);
    if (found.length === 0) return 0;
    const made = found.map((announcement) => records.ofAnnouncement(announcement, source));
    for (const some of chunks(made)) await mustSend(some);
    const digests = Buffer.concat(found.map(outboxDigest));
    await steps.run(() => streaming.writeNote(outboxOwner(group), hour, digests));
    return found.length;
  }

  return sendAnnounced;
}
