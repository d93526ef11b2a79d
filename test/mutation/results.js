import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { hash } from './test-files.js';

/** @import { Mutant } from './mutants.js' */

/**
 * The result of a mutant.
 *
 * @typedef {object} Verdict
 * @property {boolean} killed
 * @property {string} [by] the test file and the title of the test that noticed it
 * @property {boolean} [reached] for a survivor, whether a unit test executes it
 * @property {string} tests hash of the test files that decided the verdict
 */

/** @typedef {'unit' | 'integration'} Kind */

/**
 * The verdicts of earlier runs, so that a stopped run can continue. A verdict is valid as long as the source of the
 * mutant and the deciding tests are the same. Each verdict is written at once, as one line.
 */
export class Results {
  #path;
  /** @type {Map<string, Verdict>} */
  #verdicts = new Map();

  /** @param {string} path */
  constructor(path) {
    this.#path = path;
    for (const line of linesOf(path)) {
      const verdict = parse(line);
      if (verdict) this.#verdicts.set(verdict.key, verdict);
    }
  }

  /**
   * @param {string} source the text of the file without the mistake
   * @param {Mutant} mutant
   * @param {Kind} kind
   */
  static keyOf(source, { file, start, end, replacement }, kind) {
    return hash([kind, file, source, `${start}:${end}`, replacement]);
  }

  /** @param {string} key */
  get(key) {
    return this.#verdicts.get(key);
  }

  /** @param {string} key @param {Verdict} verdict */
  set(key, verdict) {
    this.#verdicts.set(key, verdict);
    mkdirSync(dirname(this.#path), { recursive: true });
    appendFileSync(this.#path, `${JSON.stringify({ key, ...verdict })}\n`);
  }
}

/** @param {string} path @returns {string[]} */
function linesOf(path) {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return [];
    throw error;
  }
}

/** The last line of a killed process may be incomplete. @param {string} line @returns {(Verdict & { key: string }) | null} */
function parse(line) {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
