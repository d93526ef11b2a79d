import { setImmediate as nextTurn } from 'node:timers/promises';
import { until } from './until.js';

/** The writes of ingest, by the part of the store that they belong to. */
const WRITES = {
  measurements: ['commit', 'writeParts'],
  latest: ['write'],
  registry: ['writeDevice', 'indexDevice', 'commit', 'writeSensorsAt', 'writeLastSeen', 'writeStatus'],
  events: ['write'],
  deadLetters: ['write'],
  history: ['writeSamples', 'writeLate'],
  lateDays: ['write'],
};

/** @typedef {(...args: any[]) => Promise<unknown>} Write */
/** @typedef {{ [name: string]: any }} Part */

/**
 * One write that a test holds: the store gets it when the test releases it.
 *
 * @typedef {object} Hold
 * @property {string} write part and method, such as `latest.write`
 * @property {number} [nth] which call of it, from now on (1 or more, default 1)
 * @property {boolean} [answersEarly] true: the write resolves for the caller at once (default false)
 */

/**
 * Stands between ingest and its store, and can hold a single write.
 */
export class HeldWrites {
  /** @type {HeldWrite | null} */
  #held = null;
  #running = 0;

  /**
   * @template {object} S
   * @param {S} store
   * @returns {S} the same store, whose writes of ingest can be held
   */
  watch(store) {
    const parts = Object.entries(WRITES).map(([name, methods]) => {
      const part = /** @type {Part} */ (store)[name];
      const watched = methods.map((method) => [method, this.#watchWrite(`${name}.${method}`, part[method])]);
      return [name, { ...part, ...Object.fromEntries(watched) }];
    });
    return { ...store, ...Object.fromEntries(parts) };
  }

  /** @param {string} name @param {Write} write @returns {Write} */
  #watchWrite(name, write) {
    return (...args) => {
      const held = this.#held;
      if (held?.takes(name)) return held.begin(() => write(...args));
      this.#running++;
      return write(...args).finally(() => {
        this.#running--;
      });
    };
  }

  /** @param {Hold} hold replaces the one before */
  hold(hold) {
    this.#held = new HeldWrite(hold);
    return this.#held;
  }

  /** Settles when no write but the held one is under way, and ingest has acted on the answers. */
  async quiet() {
    await nextTurn();
    await until(() => this.#running === 0, { what: 'the end of all other writes' });
    await nextTurn();
  }
}

class HeldWrite {
  #hold;
  #calls = 0;
  /** @type {Promise<unknown> | null} */
  #committed = null;
  #release = () => {};
  #released;

  /** @param {Hold} hold */
  constructor(hold) {
    this.#hold = hold;
    this.#released = new Promise((resolve) => {
      this.#release = () => resolve(undefined);
    });
  }

  /** @param {string} name @returns {boolean} whether this call is the one to hold */
  takes(name) {
    return name === this.#hold.write && ++this.#calls === (this.#hold.nth ?? 1);
  }

  /** @param {() => Promise<unknown>} request @returns {Promise<unknown>} */
  begin(request) {
    this.#committed = this.#released.then(request);
    return this.#hold.answersEarly ? Promise.resolve() : this.#committed;
  }

  /** Settles when ingest has asked for the write. */
  async reached() {
    await until(() => this.#committed !== null, { what: `a call of ${this.#hold.write}` });
  }

  /** Lets the write go on. @returns {Promise<void>} settles when it is committed */
  async release() {
    this.#release();
    await this.#committed;
  }
}
