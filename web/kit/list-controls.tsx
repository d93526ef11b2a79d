import { useCallback, useEffect, useId, useState } from 'preact/hooks';
import { formatCount, formatCounted } from '../format.ts';
import { useServices } from '../state/hooks.ts';
import { useFeaturePages } from './slots.tsx';
import './tables.css';

/** Parameters that choose a part of the fleet, or arrange it. */
const KEPT = ['site', 'place', 'level'];

/** The links keep the chosen part of the fleet. @param props `shown`: name of the feature whose list is shown */
export function ListSwitch({ shown: ofFeature }: { shown?: string }) {
  const { router } = useServices();
  const { query } = router.place.value;
  const pages = useFeaturePages().filter(({ place }) => place === 'lists');
  const kept = new URLSearchParams([...query].filter(([name]) => KEPT.includes(name)));
  const shown = ofFeature ?? (query.get('show') === 'devices' ? 'devices' : 'sensors');
  const lists = [
    { name: 'sensors', label: 'Sensors', href: kept.size > 0 ? `/?${kept}` : '/' },
    { name: 'devices', label: 'Devices', href: `/?show=devices${kept.size > 0 ? `&${kept}` : ''}` },
    ...pages.map(({ name, label }) => ({ name, label, href: `/${name}` })),
  ];
  return (
    <nav class="list-switch" aria-label="What is listed">
      {lists.map(({ name, label, href }) => (
        <a key={name} href={href} aria-current={name === shown ? 'true' : undefined}>
          {label}
        </a>
      ))}
    </nav>
  );
}

/** Pause in typing, in ms, after which the typed text is applied. */
const PAUSE_MS = 300;

/**
 * With `options`, the text applies when it equals an option or is complete, because a part of a type finds nothing.
 * Otherwise it applies after a pause.
 */
export function FilterField({
  label,
  placeholder,
  value,
  options,
  onChange,
}: {
  label: string;
  placeholder: string;
  value: string;
  options?: string[];
  onChange: (value: string) => void;
}) {
  const id = useId();
  const [text, setText] = useState(value);
  // The Back button, a link or "clear filters" may change the address, so the field adopts the new text.
  useEffect(() => setText(value), [value]);

  useEffect(() => {
    if (options || text === value) return undefined;
    const timer = setTimeout(() => onChange(text.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, value, options, onChange]);

  const type = (next: string) => {
    setText(next);
    if (next === '' || options?.includes(next)) onChange(next);
  };

  return (
    <div class="field" data-set={value !== ''}>
      <label for={id}>{label}</label>
      <input
        id={id}
        type="search"
        autocomplete="off"
        spellcheck={false}
        list={options ? `${id}-options` : undefined}
        placeholder={placeholder}
        value={text}
        onInput={(event) => type(event.currentTarget.value)}
        onChange={() => onChange(text.trim())}
      />
      {options && (
        <datalist id={`${id}-options`}>
          {options.map((option) => (
            <option value={option} />
          ))}
        </datalist>
      )}
    </div>
  );
}

/** A page with a cursor knows only the next page. The earlier pages are those that the user visited. */
export function Pager({
  what,
  shown,
  before,
  total,
  isFirst,
  number,
  isUnordered,
  onPrevious,
  onNext,
  onFirst,
}: {
  /** noun for one row, such as `sensor` */
  what: string;
  /** number of rows on this page; null: unknown yet */
  shown: number | null;
  before?: number;
  total?: number;
  isFirst: boolean;
  /** number of this page; null if the page was opened by its address */
  number: number | null;
  /** whether the list has no sort order across its pages; the pager then shows the word `unordered` */
  isUnordered?: boolean;
  onPrevious: (() => void) | null;
  onNext: (() => void) | null;
  onFirst: () => void;
}) {
  return (
    <nav class="pager" aria-label="Pages">
      <p>
        {shown === null ? (
          'Reading…'
        ) : before !== undefined && total !== undefined && total > shown ? (
          `${formatCount(before + 1)} to ${formatCount(before + shown)} of ${formatCounted(total, what)}`
        ) : (
          <>
            {formatCounted(shown, what)} on {number === null ? 'this page' : `page ${number}`}
            {isUnordered ? ', unordered' : ''}
          </>
        )}
      </p>
      <Turn label="First" onTurn={isFirst ? null : onFirst} />
      <Turn label="Previous" onTurn={onPrevious} />
      <Turn label="Next" onTurn={onNext} />
    </nav>
  );
}

/** Stays enabled for the browser, because a disabled button loses the focus, and a keyboard user would start at the top. */
const Turn = ({ label, onTurn }: { label: string; onTurn: (() => void) | null }) => (
  <button type="button" class="button" aria-disabled={!onTurn} onClick={onTurn ?? undefined}>
    {label}
  </button>
);

/** @returns a function that sets a filter of the address, and returns to the first page */
export function useFilter(name: string): (value: string) => void {
  const { router } = useServices();
  return useCallback(
    (value) => {
      if (value === (router.place.peek().query.get(name) ?? '')) return;
      router.changeQuery({ [name]: value, cursor: null, page: null });
    },
    [router, name],
  );
}

type Pages = Omit<Parameters<typeof Pager>[0], 'what' | 'shown'>;

/** Pages by cursor. The address holds the cursor of the shown page, and the history entry those of earlier pages. */
export function usePages({
  next,
  top,
  along,
}: {
  /** cursor of the page after this one; undefined: not known yet */
  next: string | null | undefined;
  top?: string;
  /** returns further parameters that the address needs with the cursor */
  along?: (next: string | null) => Record<string, string | null>;
}): Pages {
  const { router } = useServices();
  const { query, pageCursors } = router.place.value;
  const cursor = query.get('cursor');

  const turn = (to: string | null, before: (string | null)[]) => {
    router.changeQuery({ cursor: to, ...along?.(to) }, { pageCursors: before });
    if (top) document.getElementById(top)?.scrollIntoView({ block: 'nearest' });
  };

  return {
    isFirst: !cursor,
    number: cursor && pageCursors.length === 0 ? null : pageCursors.length + 1,
    onFirst: () => turn(null, []),
    onPrevious:
      pageCursors.length > 0 ? () => turn(pageCursors.at(-1) ?? null, pageCursors.slice(0, -1)) : null,
    onNext: next ? () => turn(next, [...pageCursors, cursor]) : null,
  };
}

/** Pages of a list that the browser holds completely. The address holds the page number. */
export function useNumberedPages({
  number,
  total,
  rows,
  top,
}: {
  number: number;
  total: number;
  rows: number;
  top: string;
}): Pages {
  const { router } = useServices();
  const turn = (to: number) => {
    router.changeQuery({ page: to === 1 ? null : String(to), cursor: null });
    document.getElementById(top)?.scrollIntoView({ block: 'nearest' });
  };
  return {
    before: (number - 1) * rows,
    total,
    isFirst: number === 1,
    number,
    onFirst: () => turn(1),
    onPrevious: number === 1 ? null : () => turn(number - 1),
    onNext: number * rows < total ? () => turn(number + 1) : null,
  };
}
