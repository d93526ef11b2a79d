import { setImmediate as nextTurn } from 'node:timers/promises';
import type { connectStore, Store } from '../../../api/store/index.ts';
import type { Session } from '../../../api/store/sending/session.ts';
import { until } from '../until.ts';

/** The writes of ingest that tests hold by part of the store. Others are held by the name of their statement, such as `write_latest`. */
const WRITES = {
  registry: ['writeDevice', 'indexDevice', 'commit', 'writeSensorsAt', 'writeStatus'],
  events: ['write'],
  deadLetters: ['write'],
  history: ['writeSamples', 'writeLate'],
  lateDays: ['write'],
};

type Write<Args extends unknown[] = never[]> = (...args: Args) => Promise<unknown>;

/** A write that a test holds. The store receives it when the test releases it. */
export interface Hold {
  /** part and method, such as `history.writeLate`, or the name of a statement, such as `write_latest` */
  write: string;
  /** the call to hold, counted from now (1 or more, default 1) */
  nth?: number;
  /** true: the write resolves for the caller at once (default false) */
  answersEarly?: boolean;
}

/** Wraps the store of ingest, and can hold a single write. */
export class HeldWrites {
  #held: HeldWrite | null = null;
  #running = 0;

  watch(store: Store): Store {
    const { deadLetters, ...tables } = WRITES;
    const write = { ...store.write, ...this.#watchParts(store.write, tables) };
    return { ...store, ...this.#watchParts(store, { deadLetters }), write };
  }

  /** @param writes methods of each part @returns these parts, with writes that can be held */
  #watchParts(parts: object, writes: Record<string, string[]>): object {
    const all = new Map<string, Record<string, Write>>(Object.entries(parts));
    const watched = Object.entries(writes).map(([name, methods]) => {
      const part = all.get(name) ?? {};
      const held = methods.map((method) => [
        method,
        this.#watchWrite(`${name}.${method}`, part[method] as Write),
      ]);
      return [name, { ...part, ...Object.fromEntries(held) }];
    });
    return Object.fromEntries(watched);
  }

  opens(openStore: typeof connectStore): typeof connectStore {
    return async (options) =>
      this.watch(
        await openStore({ ...options, hooks: { ...options.hooks, wrapSession: this.watchSession } }),
      );
  }

  /** @returns whose rows and single statements can be held */
  watchSession = (session: Session): Session =>
    Object.assign(Object.create(session), {
      write: (...args: Parameters<Session['write']>) =>
        this.#watchWrite(args[0].name, () => session.write(...args))(),
      writeMerged: (...args: Parameters<Session['writeMerged']>) =>
        this.#watchWrite(args[0].name, () => session.writeMerged(...args))(),
    });

  #watchWrite<Args extends unknown[]>(name: string, write: Write<Args>): Write<Args> {
    return (...args) => {
      const held = this.#held;
      if (held?.takes(name)) return held.begin(() => write(...args));
      this.#running++;
      return write(...args).finally(() => {
        this.#running--;
      });
    };
  }

  hold(hold: Hold) {
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
  #committed: Promise<unknown> | null = null;
  #release = () => {};
  #released;

  constructor(hold: Hold) {
    this.#hold = hold;
    this.#released = new Promise((resolve) => {
      this.#release = () => resolve(undefined);
    });
  }

  takes(name: string): boolean {
    return name === this.#hold.write && ++this.#calls === (this.#hold.nth ?? 1);
  }

  begin(request: () => Promise<unknown>): Promise<unknown> {
    this.#committed = this.#released.then(request);
    return this.#hold.answersEarly ? Promise.resolve() : this.#committed;
  }

  /** Settles when ingest has requested the write. */
  async reached() {
    await until(() => this.#committed !== null, { what: `a call of ${this.#hold.write}` });
  }

  async release(): Promise<void> {
    this.#release();
    await this.#committed;
  }
}
