import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { problemWords } from '../../api/request.ts';
import type { Page } from '../../kit/slots.tsx';
import { useFeaturePages } from '../../kit/slots.tsx';
import { deviceHref, sensorHref } from '../../routes.ts';
import { useQuery, useServices } from '../../state/hooks.ts';
import { useMay } from '../../state/session.ts';
import { Dialog } from '../shared/dialog.tsx';
import './search.css';
import type { SearchResult } from './api.ts';
import { search } from './api.ts';

const LENS = 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.3 10.3 13.5 13.5';
const KINDS = { site: 'Site', device: 'Device', sensor: 'Sensor' };

/** A page of the dashboard, or the manual. */
interface FoundPage {
  kind: 'page';
  name: string;
  href: string;
  /** further words that find the page */
  words: string;
  /** the scope that the page needs, if it needs more than to read */
  scope?: 'ingest' | 'admin' | undefined;
}

const PAGES = {
  fleet: { kind: 'page', name: 'Fleet', href: '/', words: 'home wall overview sensors' },
  devices: { kind: 'page', name: 'Devices', href: '/?show=devices', words: 'list' },
  manual: { kind: 'page', name: 'Manual', href: '/docs/', words: 'help documentation docs tutorial api' },
} satisfies Record<string, FoundPage>;

/** @returns all pages, in the order of the navigation */
function pagesWith(pages: readonly Page[]): FoundPage[] {
  const at = (wanted: Page['place']): FoundPage[] =>
    pages
      .filter(({ place }) => place === wanted)
      .map(({ name, label, words, scope }) => ({
        kind: 'page',
        name: label,
        href: `/${name}`,
        words,
        scope,
      }));
  const { fleet, devices, manual } = PAGES;
  return [fleet, devices, ...at('lists'), ...at('navigation'), manual];
}

/**
 * @param pages the pages of features
 * @returns the pages whose name or further words begin with each word of the text
 */
export function pagesFor(text: string, pages: readonly Page[]): FoundPage[] {
  const asked = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (asked.length === 0) return [];
  return pagesWith(pages).filter(({ name, words }) => {
    const known = `${name} ${words}`.toLowerCase().split(' ');
    return asked.every((word) => known.some((one) => one.startsWith(word)));
  });
}

/** Renders the search over sites, devices, sensors and pages. The key `/`, Ctrl K or a button opens the search from every view. */
export function Search() {
  const mayRead = useMay('read');
  const [isOpen, setOpen] = useState(false);
  // An effect after the paint would lose a key that is pressed as soon as the button is visible.
  useLayoutEffect(() => {
    if (!mayRead) return undefined;
    const open = (event: KeyboardEvent) => {
      if (!isSearchKey(event)) return;
      event.preventDefault();
      if (!document.querySelector('dialog[open]')) setOpen(true);
    };
    document.addEventListener('keydown', open);
    return () => document.removeEventListener('keydown', open);
  }, [mayRead]);
  if (!mayRead) return null;
  return (
    <>
      <button
        type="button"
        class="button search-button"
        aria-label="Search"
        aria-haspopup="dialog"
        aria-keyshortcuts="/ Control+K Meta+K"
        title="Search sites, devices, sensors and pages ( / or Ctrl K )"
        onClick={() => setOpen(true)}
      >
        <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
          <path d={LENS} />
        </svg>
        <span>Search</span>
        <kbd aria-hidden="true">/</kbd>
      </button>
      {isOpen && <SearchDialog onClose={() => setOpen(false)} />}
    </>
  );
}

function isSearchKey({ key, ctrlKey, metaKey, altKey, target }: KeyboardEvent): boolean {
  if (altKey) return false;
  if (ctrlKey || metaKey) return key.toLowerCase() === 'k';
  const isTyping =
    target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null;
  return key === '/' && !isTyping;
}

/** Pause in typing after which the API is requested, in ms. */
const PAUSE_MS = 120;

function SearchDialog({ onClose }: { onClose: () => void }) {
  const { router } = useServices();
  const [text, setText] = useState('');
  const [asked, setAsked] = useState('');
  const [chosen, setChosen] = useState('');
  const list = useId();
  const field = useRef<HTMLInputElement | null>(null);
  const { items: found, more, answered, loading, problem } = useSearch(asked);
  const may = { ingest: useMay('ingest'), admin: useMay('admin') };
  const pages = pagesFor(text, useFeaturePages()).filter(({ scope }) => !scope || may[scope]);
  const items = [...pages, ...found];
  const chosenIndex = items.findIndex((item) => resultHref(item) === chosen);
  const at = Math.min(Math.max(chosenIndex, 0), items.length - 1);

  useEffect(() => field.current?.focus(), []);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  useEffect(() => {
    document.getElementById(`${list}-${at}`)?.scrollIntoView({ block: 'nearest' });
  }, [list, at]);

  function open(result: SearchResult | FoundPage) {
    onClose();
    const href = resultHref(result);
    // The manual is not a view of the dashboard.
    if (href.startsWith('/docs/')) return location.assign(href);
    router.go(href);
    scrollTo(0, 0);
  }

  function onKeyDown(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const next = items.at((at + (step ?? 0)) % items.length);
    if (step !== undefined && next) {
      event.preventDefault();
      setChosen(resultHref(next));
    }
    const result = items[at];
    // Enter opens a result only if the results belong to the typed text, not to an earlier text.
    if (event.key === 'Enter' && result && (result.kind === 'page' || answered === text.trim())) {
      event.preventDefault();
      open(result);
    }
  }

  return (
    <Dialog title="Search" onClose={onClose}>
      <input
        ref={field}
        class="search-field"
        type="text"
        role="combobox"
        autocomplete="off"
        spellcheck={false}
        aria-label="Site, device, sensor or page"
        aria-expanded={items.length > 0}
        aria-controls={items.length > 0 ? list : undefined}
        aria-activedescendant={at >= 0 ? `${list}-${at}` : undefined}
        aria-autocomplete="list"
        placeholder="Any part of a name, of several words if you like"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setChosen('');
        }}
        onKeyDown={onKeyDown}
      />
      {items.length > 0 && (
        <div class="search-results" id={list} role="listbox" aria-label="Results">
          {items.map((result, index) => (
            <Result
              key={`${result.kind} ${resultHref(result)}`}
              id={`${list}-${index}`}
              result={result}
              isChosen={index === at}
              onOpen={() => open(result)}
            />
          ))}
        </div>
      )}
      <p class="search-note" role="status">
        {noteOf({ asked, count: items.length, more, loading, problem })}
      </p>
    </Dialog>
  );
}

function Result({
  id,
  result,
  isChosen,
  onOpen,
}: {
  id: string;
  result: SearchResult | FoundPage;
  isChosen: boolean;
  onOpen: () => void;
}) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus, and its keys choose and open
    <div id={id} role="option" tabIndex={-1} aria-selected={isChosen} class="search-result" onClick={onOpen}>
      <span class="search-kind small">{result.kind === 'page' ? 'Page' : KINDS[result.kind]}</span>
      <b>{result.name}</b>
      <span class="search-where small">{result.kind === 'page' ? '' : placeOf(result)}</span>
    </div>
  );
}

/** @returns device, type and site of a result, as far as its name does not have them */
const placeOf = ({ kind, device, type, site }: SearchResult): string =>
  [kind === 'sensor' && device, kind === 'sensor' && type, kind !== 'site' && site]
    .filter(Boolean)
    .join(' · ');

function noteOf({
  asked,
  count,
  more,
  loading,
  problem,
}: {
  asked: string;
  count: number;
  more: boolean;
  loading: boolean;
  problem: string;
}): string {
  if (asked.trim() === '') return 'Arrows choose, Enter opens, Esc closes.';
  if (problem) return `${problem}.`;
  if (loading) return 'Searching…';
  if (count === 0) return 'Nothing has this in its name.';
  return more ? 'There are more. Another word narrows the search.' : `${count} found.`;
}

const NO_RESULTS: { items: SearchResult[]; more: boolean; answered: string } = {
  items: [],
  more: false,
  answered: '',
};

/**
 * Searches sites, devices and sensors. The search always asks the API, because no page holds the devices without sensors.
 *
 * @returns `answered`: the text to which the items belong; `problem`: why the search failed, as text
 */
function useSearch(text: string) {
  const { client } = useServices();
  const asked = text.trim();
  const { data, loading, problem } = useQuery(asked, async (signal) =>
    asked ? { answered: asked, ...(await search(client, asked, signal)) } : NO_RESULTS,
  );
  return {
    ...(data ?? NO_RESULTS),
    loading: asked !== '' && loading,
    problem: problem ? problemWords(problem).title : '',
  };
}

export function resultHref(result: SearchResult | FoundPage): string {
  if (result.kind === 'page') return result.href;
  const { kind, name, device_id, sensor_id, device } = result;
  if (device_id === null) return `/?site=${encodeURIComponent(name)}`;
  if (kind === 'device' || sensor_id === null) return deviceHref(device_id, device);
  return sensorHref(device_id, sensor_id, { device, sensor: name });
}
