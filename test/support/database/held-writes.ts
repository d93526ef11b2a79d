import { setImmediate as nextTurn } from 'node:timers/promises';
import { until } from '../until.js';

/** @import { connectStore, Store } from '../../../api/store/index.js' */
/** @import { Session } from '../../../api/store/sending/session.js' */

/** The writes of ingest that tests hold by part of the store. Others are held by the name of their statement, such as `write_latest`. */
const WRITES = {
  registry: ['writeDevice', 'indexDevice', 'commit', 'writeSensorsAt', 'writeStatus'],
  events: ['write'],
  deadLetters: ['write'],
  history: ['writeSamples', 'writeLate'],
  lateDays: ['write'],
};

/** @typedef {(...args: any[]) => Promise<unknown>} Write */
/** @typedef {{ [name: string]: any }} Part */

/**
 * A write that a test holds. The store receives it when the test releases it.
 *
 * @typedef {object} Hold
 * @property {string} write part and method, such as `history.writeLate`, or the name of a statement, such as `write_latest`
 * @property {number} [nth] the call to hold, counted from now (1 or more, default 1)
 * @property {boolean} [answersEarly] true: the write resolves for the caller at once (default false)
 */

/** Wraps the store of ingest, and can hold a single write. */
export class HeldWrites {
  /** @type {HeldWrite | null} */
  #held = null;
  #running = 0;

  /** @param {Store} store @returns {Store} the same store, with writes that can be held */
  watch(store) {
    const { deadLetters, ...tables } = WRITES;
    const write = { ...store.write, ...this.#watchParts(store.write, tables) };
    return { ...store, ...this.#watchParts(store, { deadLetters }), write };
  }

  /** @param {Part} parts @param {Record<string, string[]>} writes methods of each part @returns {Part} these parts, with writes that can be held */
  #watchParts(parts, writes) {
    const watched = Object.entries(writes).map(([name, methods]) => {
      const part = parts[name];
      const held = methods.map((method) => [method, this.#watchWrite(`${name}.${method}`, part[method])]);
      return [name, { ...part, ...Object.fromEntries(held) }];
    });
    return Object.fromEntries(watched);
  }

  /** Opens a store whose writes can be held. @param {typeof connectStore} openStore @returns {typeof connectStore} */
  opens(openStore) {
    return async (options) =>
      this.watch(
        await openStore({ ...options, hooks: { ...options.hooks, wrapSession: this.watchSession } }),
      );
  }

  /** @param {Session} session @returns {Session} whose rows and single statements can be held */
  watchSession = (session) =>
    Object.assign(Object.create(session), {
      write: (/** @type {Parameters<Session['write']>} */ ...args) =>
        this.#watchWrite(args[0].name, () => session.write(...args))(),
      writeMerged: (/** @type {Parameters<Session['writeMerged']>} */ ...args) =>
        this.#watchWrite(args[0].name, () => session.writeMerged(...args))(),
    });

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

  /** @param {Hold} hold replaces the previous one */
  hold(hold) {
    this.#held = new HeldWrite(hold);
    return this.#held;
  }

  /** Settles when only the held write is pending, and ingest has processed all other answers. */
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

  /** @param {string} name @returns {boolean} whether to hold this call */
  takes(name) {
    return name === this.#hold.write && ++this.#calls === (this.#hold.nth ?? 1);
  }

  /** @param {() => Promise<unknown>} request @returns {Promise<unknown>} */
  begin(request) {
    this.#committed = this.#released.then(request);
    return this.#hold.answersEarly ? Promise.resolve() : this.#committed;
  }

  /** Settles when ingest has requested the write. */
  async reached() {
    await until(() => this.#committed !== null, { what: `a call of ${this.#hold.write}` });
  }

  /** Releases the write. @returns {Promise<void>} settles when it is committed */
  async release() {
    this.#release();
    await this.#committed;
  }
}
