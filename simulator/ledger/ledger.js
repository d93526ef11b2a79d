import { closeSync, fstatSync, openSync, readSync, writeFileSync } from 'node:fs';
import { MillraceError } from '../../common/errors.js';
import { acknowledgedLine, episodeLine, headerLine, sentLine } from './format.js';

/** @import { SentEpisode } from '../faults/episodes.js' */

/**
 * Writes a ledger, or appends a run to one. Two runs must not write it at the same time.
 *
 * Invariant: a line is written before its message is sent. So the database never has a sample that the ledger lacks, however the process
 * ends. This costs one write per message, 4 µs. Acknowledgements are written at the end of the event loop iteration.
 */
export class Ledger {
  #path;
  #onFailed;
  #file;
  #number = 0;
  #pending = '';
  #usable = true;
  /** @type {NodeJS.Immediate | undefined} */
  #flushing;

  /**
   * @param {object} options
   * @param {string} options.path
   * @param {(error: MillraceError) => void} options.onFailed the ledger cannot be written any more; called once
   * @throws {MillraceError} `failed` when the file cannot be opened
   */
  constructor({ path, onFailed }) {
    this.#path = path;
    this.#onFailed = onFailed;
    this.#file = open(path);
    this.#write(headerLine(Date.now()));
  }

  /**
   * To be called before a message is published for the first time.
   *
   * @param {string} note from `noteOf`
   * @returns {number | null} the message's number; null: it could not be written down and must not be sent
   */
  sent(note) {
    this.#number += 1;
    this.#write(sentLine(this.#number, note));
    return this.#usable ? this.#number : null;
  }

  /** Writes down an acknowledgement. @param {number} acknowledged number of a message */
  acknowledged(acknowledged) {
    this.#pending += acknowledgedLine(acknowledged);
    this.#flushing ??= setImmediate(() => this.#write());
  }

  /** Writes down an episode, before its end is sent. @param {string} device @param {SentEpisode} episode */
  episode(device, episode) {
    this.#write(episodeLine(device, episode));
  }

  /** Writes the pending lines and closes the file. */
  close() {
    this.#write();
    this.#usable = false;
    closeSync(this.#file);
  }

  /** @param {string} [line] */
  #write(line = '') {
    clearImmediate(this.#flushing);
    this.#flushing = undefined;
    const text = this.#pending + line;
    this.#pending = '';
    if (!this.#usable || text === '') return;
    try {
      writeFileSync(this.#file, text);
    } catch (error) {
      this.#usable = false;
      this.#onFailed(explain(this.#path, error));
    }
  }
}

/** @param {string} path @returns {number} a descriptor that appends, at the beginning of a line */
function open(path) {
  try {
    const file = openSync(path, 'a+');
    const { size } = fstatSync(file);
    const last = Buffer.alloc(1);
    if (size > 0) readSync(file, last, 0, 1, size - 1);
    // The run before was killed in the middle of a line.
    if (size > 0 && last.toString() !== '\n') writeFileSync(file, '\n');
    return file;
  } catch (error) {
    throw explain(path, error);
  }
}

/** @param {string} path @param {unknown} error */
function explain(path, error) {
  const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
  return new MillraceError(
    code === 'ENOSPC' ? 'disk_full' : 'failed',
    `The ledger ${path} cannot be written: ${message}`,
    { cause: error },
  );
}
