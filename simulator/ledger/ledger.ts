import { closeSync, fstatSync, openSync, readSync, writeFileSync } from 'node:fs';
import { MillraceError } from '../../common/errors.js';
import { acknowledgedLine, episodeLine, headerLine, sentLine } from './format.js';

/** @import { SentEpisode } from '../faults/episodes.js' */

/**
 * Writes a new ledger, or appends a run to an existing one. Two processes must not write the same ledger at once.
 *
 * Invariant: the line of a message is written before the message is sent. So the database never has a sample that the ledger
 * lacks, however the process ends. One write per message costs 4 µs. Acknowledgements are written at the end of the event loop
 * iteration.
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
   * @param {(error: MillraceError) => void} options.onFailed called once, when the ledger can no longer be written
   * @throws {MillraceError} `failed` when the file cannot be opened
   */
  constructor({ path, onFailed }) {
    this.#path = path;
    this.#onFailed = onFailed;
    this.#file = open(path);
    this.#write(headerLine(Date.now()));
  }

  /**
   * Writes a message to the ledger. Must be called before the message is published for the first time.
   *
   * @param {string} note from `noteOf`
   * @returns {number | null} number of the message; null: the line could not be written, and the message must not be sent
   */
  sent(note) {
    this.#number += 1;
    this.#write(sentLine(this.#number, note));
    return this.#usable ? this.#number : null;
  }

  /** Writes an acknowledgement to the ledger. @param {number} acknowledged number of a message */
  acknowledged(acknowledged) {
    this.#pending += acknowledgedLine(acknowledged);
    this.#flushing ??= setImmediate(() => this.#write());
  }

  /** Writes an episode to the ledger. Must be called before the end of the episode is sent. @param {string} device @param {SentEpisode} episode */
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

/**
 * Opens a ledger for appending. If the last line is incomplete, a line end is written, so that the next write begins a new line.
 *
 * @param {string} path
 * @returns {number} file descriptor
 */
function open(path) {
  try {
    const file = openSync(path, 'a+');
    const { size } = fstatSync(file);
    const last = Buffer.alloc(1);
    if (size > 0) readSync(file, last, 0, 1, size - 1);
    // The previous run was killed while it wrote a line.
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
