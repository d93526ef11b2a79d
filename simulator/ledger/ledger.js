import { closeSync, fstatSync, openSync, readSync, writeFileSync } from 'node:fs';
import { MillraceError } from '../../common/errors.js';
import { acknowledgedLine, headerLine, sentLine } from './format.js';

/**
 * Writes a ledger, or appends a run to one. Two runs must not write it at the same time.
 *
 * Invariant: a line is written before its message is sent. So the database never has a sample that the ledger lacks, however the process
 * ends. This costs one write per message, 4 µs. Acknowledgements are written at the end of the event loop iteration.
 *
 * @param {object} options
 * @param {string} options.path
 * @param {(error: MillraceError) => void} options.onFailed the ledger cannot be written any more; called once
 * @throws {MillraceError} `failed` when the file cannot be opened
 */
export function createLedger({ path, onFailed }) {
  const file = open(path);
  let number = 0;
  let pending = '';
  let usable = true;
  /** @type {NodeJS.Immediate | undefined} */
  let flushing;

  /** @param {string} [line] */
  function write(line = '') {
    clearImmediate(flushing);
    flushing = undefined;
    const text = pending + line;
    pending = '';
    if (!usable || text === '') return;
    try {
      writeFileSync(file, text);
    } catch (error) {
      usable = false;
      onFailed(explain(path, error));
    }
  }

  write(headerLine(Date.now()));

  return {
    /**
     * To be called before a message is published for the first time.
     *
     * @param {string} note from `noteOf`
     * @returns {number | null} the message's number; null: it could not be written down and must not be sent
     */
    sent(note) {
      number += 1;
      write(sentLine(number, note));
      return usable ? number : null;
    },

    /** @param {number} acknowledged number of a message */
    acknowledged(acknowledged) {
      pending += acknowledgedLine(acknowledged);
      flushing ??= setImmediate(write);
    },

    /** Writes what is pending and closes the file. */
    close() {
      write();
      usable = false;
      closeSync(file);
    },
  };
}

/** @typedef {ReturnType<typeof createLedger>} Ledger */

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
