type Place<T> = { value: T; before: Place<T> | null; behind: Place<T> | null; left: boolean };

/**
 * A first-in, first-out queue as a linked list. Any entry can be removed, and every operation takes constant time. An array is not used:
 * removing its first entry moves all others, which takes 1.3 ms for a million entries. Queues become that long while the database is
 * unavailable. A Set is not used either: a search for its first entry skips all removed entries.
 */
export class Queue<T> {
  #first: Place<T> | null = null;
  #last: Place<T> | null = null;
  #size = 0;

  /** @returns removes the value */
  push(value: T): () => void {
    const place = { value, before: this.#last, behind: null, left: false };
    if (this.#last) this.#last.behind = place;
    else this.#first = place;
    this.#last = place;
    this.#size++;
    return () => this.#leave(place);
  }

  shift(): T | undefined {
    if (!this.#first) return undefined;
    const { value } = this.#first;
    this.#leave(this.#first);
    return value;
  }

  get first(): T | undefined {
    return this.#first?.value;
  }

  get size() {
    return this.#size;
  }

  /** A second call for the same entry has no effect. */
  #leave(place: Place<T>) {
    if (place.left) return;
    place.left = true;
    this.#size--;
    if (place.before) place.before.behind = place.behind;
    else this.#first = place.behind;
    if (place.behind) place.behind.before = place.before;
    else this.#last = place.before;
    // Otherwise a removed place in the old generation of the heap would keep all later places in memory until the next full collection:
    // 40 MB under load.
    place.before = null;
    place.behind = null;
  }
}
