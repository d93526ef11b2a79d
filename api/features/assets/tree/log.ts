import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { MillraceError } from '../../../../common/errors.ts';
import type { AssetTree } from './asset-tree.ts';
import { type Change, MAX_CHANGES } from './change.ts';
import type { AssetStore } from './store.ts';

/** A further attempt is needed only if another process stores an edit at the same moment. */
const MAX_ATTEMPTS = 20;

/** Computes and checks changes of the tree as it is. After an edit by another process it is called again. */
export type Plan = (tree: AssetTree) => Change[];

/** Reads the log of changes into the tree every few seconds, and adds edits to the log. */
export class AssetLog {
  readonly tree: AssetTree;
  #store;
  #clock;
  #logger;
  #everyMs;
  #timer: NodeJS.Timeout | undefined;
  #reading: Promise<void> | null = null;
  /** the newest edit of this process; edits wait for each other */
  #editing: Promise<unknown> = Promise.resolve();

  constructor(deps: {
    tree: AssetTree;
    store: AssetStore;
    /** epoch ms */
    clock: () => number;
    logger: Pick<Logger, 'debug'>;
    everyMs: number;
  }) {
    this.tree = deps.tree;
    this.#store = deps.store;
    this.#clock = deps.clock;
    this.#logger = deps.logger;
    this.#everyMs = deps.everyMs;
  }

  async start() {
    await this.refresh();
    this.#timer = setInterval(() => {
      this.refresh().catch((error) =>
        this.#logger.debug({ reason: String(error) }, 'the changes of assets could not be read'),
      );
    }, this.#everyMs).unref();
  }

  stop() {
    clearInterval(this.#timer);
  }

  /** Concurrent calls share one read. */
  refresh(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  /** Reads all edits that were stored before this call. A read that began earlier may miss some. */
  async refreshNow(): Promise<void> {
    await this.#reading?.catch(() => {});
    await this.refresh();
  }

  /**
   * Stores the changes of a plan. Up to 500 changes are one row, so they are stored whole or not at all. If an edit of
   * more changes fails, a part of them may be stored. A second call then stores the rest, because a plan leaves out changes that the tree has.
   * @throws the errors of the plan; `unavailable`
   */
  edit(editor: string, plan: Plan): Promise<Change[]> {
    const result = this.#editing.then(() => this.#edit(editor, plan));
    this.#editing = result.catch(() => {});
    return result;
  }

  async #edit(editor: string, plan: Plan): Promise<Change[]> {
    await this.refreshNow();
    const stored: Change[] = [];
    let planned = plan(this.tree);
    let attempts = 0;
    while (planned.length > 0) {
      const changes = planned.slice(0, MAX_CHANGES);
      const version = this.tree.version + 1;
      const edit = { id: randomUUID(), changes, at: this.#clock(), editor };
      if (await this.#store.append(version, edit)) {
        this.#take(version, changes);
        stored.push(...changes);
        planned = planned.slice(MAX_CHANGES);
        attempts = 0;
      } else if (++attempts === MAX_ATTEMPTS) {
        throw new MillraceError(
          'unavailable',
          'Other processes changed the assets at the same time. Try again.',
        );
      } else {
        await this.refresh();
        planned = plan(this.tree);
      }
    }
    return stored;
  }

  async #read() {
    for await (const { version, changes } of this.#store.after(this.tree.version))
      this.#take(version, changes);
  }

  /** A read may return an edit of this process that is in the tree already. */
  #take(version: number, changes: Change[]) {
    if (version === this.tree.version + 1) this.tree.apply(version, changes);
  }
}
