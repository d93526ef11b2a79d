import { signal } from '@preact/signals';
import type { KeptTexts } from '../../state/preferences.ts';
import { recall, remember } from '../../state/preferences.ts';
import { MOST_COMPARED, readRefs } from './address.ts';

const COMPARISON_KEY = 'millrace.comparison';

/**
 * Creates the list of sensors that the user selected for the comparison. The storage of this tab keeps the list, so that users
 * can select sensors in several views.
 */
export function createComparison({ storage: { tab: storage } }: { storage: { tab: KeptTexts } }) {
  const refs = signal(readComparison(storage));

  function set(next: string[]) {
    if (next.join('\n') === refs.peek().join('\n')) return;
    refs.value = next;
    remember(storage, COMPARISON_KEY, next);
  }

  return {
    refs,
    set,
    /** Adds a sensor to the comparison, or removes it. */
    toggle(ref: string) {
      const now = refs.peek();
      if (now.includes(ref)) set(now.filter((each) => each !== ref));
      else if (now.length < MOST_COMPARED) set([...now, ref]);
    },
  };
}

function readComparison(storage: KeptTexts): string[] {
  const kept = recall(storage, COMPARISON_KEY);
  return Array.isArray(kept) ? readRefs(new URLSearchParams(kept.map((ref) => ['s', String(ref)]))) : [];
}
