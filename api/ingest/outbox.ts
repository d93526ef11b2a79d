import { bucketOf } from '../../schema/rules.ts';
import type { StoredDeadLetter } from '../store/dead-letters.ts';
import type { DeviceEvent } from '../store/events.ts';
import type { OutboxStore } from '../store/outbox.ts';

/**
 * A committed item as it is streamed. `key`: items with the same key stay in their order. `times`: members of `content` that are instants, in
 * epoch ms.
 */
export interface AnnouncedItem {
  key: string;
  content: Record<string, unknown>;
  times: string[];
}

/** By the id of an announcement. null: the item is not committed, has changed since, or has expired. */
export type FindAnnounced = (id: string) => Promise<AnnouncedItem | null>;

/**
 * A device event, a dead letter, or an item of a feature, streamed after its commit. Samples have no announcement.
 * `group`: part of the partition key of the outbox.
 */
export type Announcement =
  | {
      kind: 'event';
      id: string;
      group: number;
      device: { id: string; name: string | null };
      event: DeviceEvent;
    }
  | { kind: 'dead_letter'; id: string; group: number; deadLetter: StoredDeadLetter }
  /** the feature names the kind */
  | { kind: string; id: string; group: number; item: AnnouncedItem };

/** Its outbox row is written. `noticed`: epoch ms of the start of the hour in which the row was written */
export type Noted = { announcement: Announcement; noticed: number };

/**
 * The row of the outbox is written before the row of the item, so no item is left out if the process is killed. When an
 * hour has closed, a feature that streams sends the announcements of this hour that no process sent, if the row of the
 * item exists.
 */
export class Outbox {
  #store;
  #clock;
  #onCommitted = (_noted: Noted) => {};

  constructor({ store, clock }: { store: Pick<OutboxStore, 'write'>; clock: () => number }) {
    this.#store = store;
    this.#clock = clock;
  }

  /** `onCommitted` gets each announcement after the commit of its item, and must return at once. */
  subscribe(onCommitted: (noted: Noted) => void) {
    this.#onCommitted = onCommitted;
  }

  /**
   * The caller then commits the row of the item at once. A retry of the commit also repeats this write: the completion
   * reads each hour only once, and may have read the earlier row.
   */
  async note(announcement: Announcement): Promise<Noted> {
    const noticed = bucketOf(this.#clock());
    await this.#store.write(announcement.group, noticed, announcement);
    return { announcement, noticed };
  }

  /** After the row of the item is committed. */
  send(noted: Noted) {
    this.#onCommitted(noted);
  }

  /** `write` commits the item. */
  async commit(announcement: Announcement, write: () => Promise<unknown>) {
    const noted = await this.note(announcement);
    await write();
    this.send(noted);
  }
}
