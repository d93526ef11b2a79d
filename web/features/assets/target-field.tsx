import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { problemWords } from '../../api/request.ts';
import { useQuery, useServices } from '../../state/hooks.ts';
import type { Asset } from './api.ts';
import { readChildren, searchAssets } from './api.ts';

/** A place in the tree. `asset` null: the top level */
export interface Target {
  asset: Pick<Asset, 'asset_id' | 'path' | 'level'> | null;
  label: string;
}

export const TOP: Target = { asset: null, label: 'Top level' };

/** Pause in typing after which the API is requested, in ms. */
const PAUSE_MS = 150;

/** Renders a field that finds an asset by its path. Arrows and Enter choose one. */
export function TargetField({
  label,
  target,
  onTarget,
  hasTop = false,
  accepts = () => true,
}: {
  label: string;
  /** null: nothing is chosen yet */
  target: Target | null;
  onTarget: (target: Target | null) => void;
  /** whether the top level can be chosen */
  hasTop?: boolean;
  accepts?: (asset: Asset) => boolean;
}) {
  const id = useId();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  /** Enter was pressed while the list was that of an earlier text. */
  const [isWaiting, setIsWaiting] = useState(false);
  const field = useRef<HTMLInputElement | null>(null);
  const { found, isCurrent, note } = useTargets(text);
  const targets = [
    ...(hasTop && text.trim() === '' ? [TOP] : []),
    ...found.filter(accepts).map((asset) => ({ asset, label: asset.path })),
  ];
  const chosen = Math.min(at, targets.length - 1);
  const isOpen = target === null && targets.length > 0;
  const next = targets[chosen];
  useEffect(() => field.current?.focus(), []);
  useEffect(() => {
    if (!isWaiting || !isCurrent) return;
    setIsWaiting(false);
    if (next) choose(next);
  });
  useEffect(() => {
    document.getElementById(`${id}-${chosen}`)?.scrollIntoView({ block: 'nearest' });
  }, [id, chosen]);

  function choose(next: Target) {
    onTarget(next);
    field.current?.focus();
  }

  function onKeyDown(event: KeyboardEvent) {
    if (!isOpen) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setAt((chosen + step + targets.length) % targets.length);
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      if (next && (isCurrent || next.asset === null)) choose(next);
      else setIsWaiting(true);
    }
  }

  return (
    <div class="dialog-field">
      <label for={id}>{label}</label>
      <input
        ref={field}
        id={id}
        type="text"
        role="combobox"
        autocomplete="off"
        spellcheck={false}
        aria-expanded={isOpen}
        aria-controls={isOpen ? `${id}-list` : undefined}
        aria-activedescendant={isOpen ? `${id}-${chosen}` : undefined}
        aria-autocomplete="list"
        placeholder="Any part of a path"
        value={target?.label ?? text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
          setIsWaiting(false);
          onTarget(null);
        }}
        onKeyDown={onKeyDown}
      />
      {isOpen && (
        <div class="asset-targets" id={`${id}-list`} role="listbox" aria-label="Places">
          {targets.map((each, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus, and its keys choose
            <div
              key={each.asset?.asset_id ?? ''}
              id={`${id}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === chosen}
              class="asset-target"
              onClick={() => choose(each)}
            >
              {each.label}
              {each.asset && <span class="small"> {each.asset.level}</span>}
            </div>
          ))}
        </div>
      )}
      <p class="asset-target-note small" role="status">
        {target ? '' : isOpen ? 'Arrows choose, Enter takes.' : note}
      </p>
    </div>
  );
}

function useTargets(text: string): { found: Asset[]; isCurrent: boolean; note: string } {
  const { client } = useServices();
  const [asked, setAsked] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const { data, loading, problem } = useQuery(`targets ${asked}`, async (signal) =>
    asked === ''
      ? (await readChildren(client, null, {}, signal)).items
      : (await searchAssets(client, asked, signal)).items,
  );
  const note = problem ? `${problemWords(problem).title}.` : loading ? 'Searching…' : 'No asset fits.';
  const isCurrent = !loading && asked === text.trim();
  return { found: data ?? [], isCurrent, note };
}
