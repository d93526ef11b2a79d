import { bucketOf } from '../../schema/rules.js';

/** @import { Alarm } from '../store/alarms/episodes.js' */
/** @import { StoredDeadLetter } from '../store/dead-letters/dead-letter.js' */
/** @import { DeviceEvent } from '../store/events.js' */
/** @import { OutboxStore } from '../store/outbox.js' */

/**
 * An item that is sent to Kafka after its commit: a device event, a dead letter, or a change of an alarm. Samples
 * have no announcement.
 *
 * @typedef {{ kind: 'event', id: string, group: number, device: { id: string, name: string | null }, event: DeviceEvent }
 *   | { kind: 'dead_letter', id: string, group: number, deadLetter: StoredDeadLetter }
 *   | { kind: 'alarm', id: string, group: number, event: string, alarm: Alarm }} Announcement
 */

/** An announcement whose outbox row is written. @typedef {{ announcement: Announcement, noticed: number }} Noted `noticed`: epoch ms of the start of the hour in which the row was written */

/**
 * Sends events, dead letters and alarms to Kafka. The row of the outbox is written before the row of the item,
 * so no item is left out if the process is killed. When the hour has closed, its completion sends the
 * announcements that no process sent, if the row of the item exists.
 */
export class Outbox {
  #store;
  #clock;
  #onCommitted = (/** @type {Noted} */ _noted) => {};

  /** @param {{ store: Pick<OutboxStore, 'write'>, clock: () => number }} deps `clock`: epoch ms */
  constructor({ store, clock }) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * Sets the receiver of announcements after their commit.
   *
   * @param {(noted: Noted) => void} onCommitted must return at once
   */
  subscribe(onCommitted) {
    this.#onCommitted = onCommitted;
  }

  /**
   * Writes the row of the outbox. The caller then commits the row of the item at once. A repeated commit also
   * repeats this write, because the completion reads an hour only once.
   *
   * @param {Announcement} announcement
   * @returns {Promise<Noted>}
   */
  async note(announcement) {
    const noticed = bucketOf(this.#clock());
    await this.#store.write(announcement.group, noticed, announcement);
    return { announcement, noticed };
  }

  /** Passes an announcement to the receiver, after the row of the item is committed. @param {Noted} noted */
  send(noted) {
    this.#onCommitted(noted);
  }

  /** @param {Announcement} announcement @param {() => Promise<unknown>} write commits the announced item */
  async commit(announcement, write) {
    const noted = await this.note(announcement);
    await write();
    this.send(noted);
  }
}
