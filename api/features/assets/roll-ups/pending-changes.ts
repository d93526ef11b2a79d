import type { ChangedPlacement } from '../tree/index.ts';
import type { RollUpProgress } from './store.ts';

/** Epoch ms; `to` may be Infinity. */
export interface Span {
  from: number;
  to: number;
}

/**
 * The edits of the tree that are not in the roll-ups yet, as the assets and hours that they concern. Each process notes them while it reads the
 * log of the tree, which begins with the first edit. So an edit is never lost, wherever a process was killed.
 */
export class PendingChanges {
  /** by version */
  #edits: Map<number, Map<string, Span>> = new Map();

  note = (changed: ChangedPlacement[], version: number) => {
    const spans: Map<string, Span> = new Map();
    for (const { assets, from, to } of changed) for (const asset of assets) widen(spans, asset, { from, to });
    this.#edits.set(version, spans);
  };

  /** The roll-ups have all edits up to this version. */
  forget(version: number) {
    for (const edit of this.#edits.keys()) if (edit <= version) this.#edits.delete(edit);
  }

  /** The assets and hours that the edits up to a version make due. */
  until(version: number, progress: Progress): Map<string, Span> {
    const due: Map<string, Span> = new Map();
    for (const [edit, spans] of this.#edits) {
      if (edit <= progress.version || edit > version) continue;
      const filledUntil = filledUntilOf(edit, progress);
      for (const [asset, { from, to }] of spans)
        if (to > filledUntil) widen(due, asset, { from: Math.max(from, filledUntil), to });
    }
    return due;
  }

  /** Epoch ms of the first hour of the asset whose roll-up lacks an edit; null: none lacks one. */
  firstHour(asset: string, progress: Progress): number | null {
    let first = Number.POSITIVE_INFINITY;
    for (const [edit, spans] of this.#edits) {
      const span = spans.get(asset);
      if (!span || edit <= progress.version) continue;
      const from = Math.max(span.from, filledUntilOf(edit, progress));
      if (from < span.to) first = Math.min(first, from);
    }
    return first === Number.POSITIVE_INFINITY ? null : first;
  }

  /** `version`: newest edit that the roll-ups have. True: they lack one. */
  isAny(version: number): boolean {
    for (const edit of this.#edits.keys()) if (edit > version) return true;
    return false;
  }
}

type Progress = Pick<RollUpProgress, 'version' | 'filling' | 'filledUntil'>;

const filledUntilOf = (edit: number, { filling, filledUntil }: Progress): number =>
  edit <= filling ? filledUntil : Number.NEGATIVE_INFINITY;

function widen(spans: Map<string, Span>, asset: string, { from, to }: Span) {
  const known = spans.get(asset);
  if (known) spans.set(asset, { from: Math.min(known.from, from), to: Math.max(known.to, to) });
  else spans.set(asset, { from, to });
}
