import { closeSync, fstatSync, openSync, readSync, writeFileSync } from 'node:fs';
import { MillraceError } from '../../common/errors.ts';
import type { SentEpisode } from '../faults/episodes.ts';
import { acknowledgedLine, episodeLine, headerLine, sentLine } from './format.ts';

/**
 * Writes a new ledger, or appends a run to an existing one. Two processes must not write the same ledger at once.
 *
 * Invariant: the line of a message is written before the message is sent. So the database never has a sample that the ledger lacks, however
 * the process ends. One write per message costs 4 µs. Acknowledgements are written at the end of the event loop iteration.
 */
export class Ledger {
  #path;
  #onFailed;
  #file;
  #number = 0;
  #pending = '';
  #usable = true;
  #flushing: NodeJS.Immediate | undefined;

  /** @throws `failed` when the file cannot be opened */
  constructor({
    path,
    onFailed,
  }: {
    path: string;
    /** called once, when the ledger can no longer be written */
    onFailed: (error: MillraceError) => void;
  }) {
    this.#path = path;
    this.#onFailed = onFailed;
    this.#file = open(path);
    this.#write(headerLine(Date.now()));
  }

  /**
   * Must be called before the message is published for the first time.
   * @param note from `noteOf`
   * @returns number of the message; null: the line could not be written, and the message must not be sent
   */
  sent(note: string): number | null {
    this.#number += 1;
    this.#write(sentLine(this.#number, note));
    return this.#usable ? this.#number : null;
  }

  /** @param acknowledged number of a message */
  acknowledged(acknowledged: number) {
    this.#pending += acknowledgedLine(acknowledged);
    this.#flushing ??= setImmediate(() => this.#write());
  }

  /** Must be called before the end of the episode is sent. */
  episode(device: string, episode: SentEpisode) {
    this.#write(episodeLine(device, episode));
  }

  close() {
    this.#write();
    this.#usable = false;
    closeSync(this.#file);
  }

  #write(line: string = '') {
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

/** If the last line is incomplete, a line end is written, so that the next write begins a new line. @returns file descriptor */
function open(path: string): number {
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

function explain(path: string, error: unknown) {
  const { code, message } = error as NodeJS.ErrnoException;
  return new MillraceError(
    code === 'ENOSPC' ? 'disk_full' : 'failed',
    `The ledger ${path} cannot be written: ${message}`,
    { cause: error },
  );
}
