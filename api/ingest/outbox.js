import { bucketOf } from '../../schema/rules.js';

/** @import { Alarm } from '../store/alarms/episodes.js' */
/** @import { StoredDeadLetter } from '../store/dead-letters/dead-letter.js' */
/** @import { DeviceEvent } from '../store/events.js' */
/** @import { OutboxStore } from '../store/outbox.js' */

/**
 * What is committed besides samples.
 *
 * @typedef {{ kind: 'event', id: string, group: number, device: { id: string, name: string | null }, event: DeviceEvent }
 *   | { kind: 'dead_letter', id: string, group: number, deadLetter: StoredDeadLetter }
 *   | { kind: 'alarm', id: string, group: number, event: string, alarm: Alarm }} Announcement
 */

/** An announcement that has its row in the outbox. @typedef {{ announcement: Announcement, noticed: number }} Noted `noticed`: epoch ms of the hour */

/**
 * Brings events, dead letters and alarms to Kafka. Its row is written before the row that it names, so a killed process loses neither. The
 * completion of the hour sends what nobody sent, if the named row is there.
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

  /** Sets what receives announcements after their commit. @param {(noted: Noted) => void} onCommitted must return at once */
  subscribe(onCommitted) {
    this.#onCommitted = onCommitted;
  }

  /**
   * Writes the row of the outbox. The commit follows without a pause. If it is tried again, so is this: the completion reads an hour once.
   *
   * @param {Announcement} announcement
   * @returns {Promise<Noted>}
   */
  async note(announcement) {
    const noticed = bucketOf(this.#clock());
    await this.#store.write(announcement.group, noticed, announcement);
    return { announcement, noticed };
  }

  /** Hands over what is committed now. @param {Noted} noted */
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
