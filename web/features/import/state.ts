import type { Signal } from '@preact/signals';
import { signal } from '@preact/signals';
import type { Problem } from '../../api/request.ts';
import type { Services } from '../../state/hooks.ts';
import type { Imported, ImportedRow, ImportProposal, RefusedLine } from './api.ts';

export interface ImportRun {
  /** whether the run is a test, which stores nothing */
  isTest: boolean;
  /** the device name that was typed when the run began */
  device: string;
  state: 'running' | 'done' | 'stopped';
  /** processed share of the file, from 0 to 1 */
  share: number;
  rows: number;
  samples: number;
  /** number of samples that another sample of the same sensor and time replaces */
  merged: number;
  refused: number;
  /** times of the first and the last sample in ISO 8601; null: no sample yet */
  oldest: string | null;
  newest: string | null;
  lines: RefusedLine[];
  /** the first samples, in the form in which they would be stored */
  first: ImportedRow[];
  problem: Problem | null;
}

/** The state of an import, which continues when the user leaves the import view. */
interface Importing {
  file: File | null;
  /** the device name as typed */
  device: string;
  /** parameters that describe the file, by name */
  options: Record<string, string>;
  /** what the first lines of the file show; null: not known */
  proposal: ImportProposal | null;
  /** the first samples of the file with these options, or the reason why there are none */
  preview: Imported | Problem | null;
  /** progress of the import; null: no import since the file was chosen */
  run: ImportRun | null;
  /** ends the import */
  abort: AbortController | null;
}

/** The initial state of the import view. */
export const NO_IMPORT: Importing = {
  file: null,
  device: '',
  options: {},
  proposal: null,
  preview: null,
  run: null,
  abort: null,
};

export function createImporting({ session }: Pick<Services, 'session'>): Signal<Importing> {
  const importing = signal(NO_IMPORT);
  session.state.subscribe(({ isOut, hasEnded }) => {
    if (!isOut) return;
    const { abort } = importing.peek();
    // A sign-out discards the progress of an import, because the next user may be another person. After a session expired, the
    // same user wants to see the progress.
    if (!hasEnded) importing.value = NO_IMPORT;
    // An import must not continue in another session.
    abort?.abort();
  });
  return importing;
}
