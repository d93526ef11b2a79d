import { bucketOf } from '../../schema/rules.js';

/** @import { Alarm } from '../store/alarms/episodes.js' */
/** @import { StoredDeadLetter } from '../store/dead-letters/dead-letter.js' */
/** @import { DeviceEvent } from '../store/events.js' */
/** @import { OutboxStore } from '../store/outbox.js' */

/**
 * A committed item other than samples.
 *
 * @typedef {{ kind: 'event', id: string, group: number, device: { id: string, name: string | null }, event: DeviceEvent }
 *   | { kind: 'dead_letter', id: string, group: number, deadLetter: StoredDeadLetter }
 *   | { kind: 'alarm', id: string, group: number, event: string, alarm: Alarm }} Announcement
 */

/** An announcement that has its row in the outbox. @typedef {{ announcement: Announcement, noticed: number }} Noted `noticed`: epoch ms of the hour */

/**
 * Sends events, dead letters and alarms to Kafka. The row of the outbox is written before the row that it
 * names, so neither is lost if the process is killed. The completion of the hour sends the announcements that
 * no process sent, if the named row exists.
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
   * Writes the row of the outbox. The commit of the named row follows at once. A repeated commit also repeats
   * this write, because the completion reads an hour only once.
   *
   * @param {Announcement} announcement
   * @returns {Promise<Noted>}
   */
  async note(announcement) {
    const noticed = bucketOf(this.#clock());
    await this.#store.write(announcement.group, noticed, announcement);
    return { announcement, noticed };
  }

  /** Passes on an announcement whose row is committed. @param {Noted} noted */
  send(noted) {
    this.#onCommitted(noted);
  }

  /** @param {Announcement} announcement @param {() => Promise<unknown>} write commits what it announces */
  async commit(announcement, write) {
    const noted = await this.note(announcement);
    await write();
    this.send(noted);
  }
}
