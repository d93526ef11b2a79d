import { Workspace } from './workspace.js';

/**
 * Copies of the checkout for mutants. Each copy has one mutant at a time.
 */
export class Pool {
  /** @type {Workspace[]} */
  #free;
  /** @type {Workspace[]} */
  #all;

  /** @param {Workspace[]} workspaces */
  constructor(workspaces) {
    this.#all = workspaces;
    this.#free = [...workspaces];
  }

  /** @param {number} size @param {{ jest?: boolean }} [options] */
  static async create(size, options) {
    return new Pool(await Promise.all(Array.from({ length: size }, () => Workspace.create(options))));
  }

  get size() {
    return this.#all.length;
  }

  /**
   * @template T
   * @param {(workspace: Workspace) => Promise<T>} work
   * @returns {Promise<T>}
   */
  async use(work) {
    const workspace = this.#free.pop();
    if (!workspace) throw new Error('There are more runs than copies.');
    try {
      return await work(workspace);
    } finally {
      this.#free.push(workspace);
    }
  }

  async remove() {
    await Promise.all(this.#all.map((workspace) => workspace.remove()));
  }
}
