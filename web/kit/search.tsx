import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import { problemWords } from '../api/request.ts';
import { deviceHref, sensorHref } from '../routes.ts';
import { useQuery, useServices } from '../state/hooks.ts';
import { sorted } from '../state/lists.ts';
import { Dialog } from './controls.tsx';
import './header.css';
import type { SearchResult } from '../api/types.ts';
import type { FleetDevice, FleetSensor } from '../state/fleet.ts';

const LENS = 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.3 10.3 13.5 13.5';
const KINDS = { site: 'Site', device: 'Device', sensor: 'Sensor' };

/** One search over sites, devices and sensors, from every view: by `/`, by Ctrl K, or by its button. */
export function Search() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      if (!isSearchKey(event) || document.querySelector('dialog[open]')) return;
      event.preventDefault();
      setOpen(true);
    };
    document.addEventListener('keydown', open);
    return () => document.removeEventListener('keydown', open);
  }, []);
  return (
    <>
      <button
        type="button"
        class="button search-button"
        aria-label="Search"
        aria-haspopup="dialog"
        aria-keyshortcuts="/ Control+K Meta+K"
        title="Search sites, devices and sensors ( / or Ctrl K )"
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

/** A pause in typing after which the API is asked, in ms. */
const PAUSE_MS = 120;

function SearchDialog({ onClose }: { onClose: () => void }) {
  const { router } = useServices();
  const [text, setText] = useState('');
  const [asked, setAsked] = useState('');
  const [chosen, setChosen] = useState(0);
  const list = useId();
  const field = useRef<HTMLInputElement | null>(null);
  const { items, more, answered, loading, problem } = useSearch(asked);
  const at = Math.min(chosen, items.length - 1);

  useEffect(() => field.current?.focus(), []);
  useEffect(() => {
    const timer = setTimeout(() => {
      setAsked(text);
      setChosen(0);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  useEffect(() => {
    document.getElementById(`${list}-${at}`)?.scrollIntoView({ block: 'nearest' });
  }, [list, at]);

  function open(result: SearchResult) {
    onClose();
    router.go(resultHref(result));
    scrollTo(0, 0);
  }

  function onKeyDown(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && items.length > 0) {
      event.preventDefault();
      setChosen((at + step + items.length) % items.length);
    }
    const result = items[at];
    // What was typed since the last answer has other results.
    if (event.key === 'Enter' && result && answered === text.trim()) {
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
        aria-label="Site, device or sensor"
        aria-expanded={items.length > 0}
        aria-controls={items.length > 0 ? list : undefined}
        aria-activedescendant={at >= 0 ? `${list}-${at}` : undefined}
        aria-autocomplete="list"
        placeholder="Any part of a name, of several words if you like"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {items.length > 0 && (
        <div class="search-results" id={list} role="listbox" aria-label="Results">
          {items.map((result, index) => (
            <Result
              key={`${result.kind} ${result.device_id} ${result.sensor_id} ${result.name}`}
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
  result: SearchResult;
  isChosen: boolean;
  onOpen: () => void;
}) {
  const { kind, name, device, type, site } = result;
  const where = [kind === 'sensor' && device, kind === 'sensor' && type, kind !== 'site' && site];
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus, and its keys choose and open
    <div id={id} role="option" tabIndex={-1} aria-selected={isChosen} class="search-result" onClick={onOpen}>
      <span class="search-kind">{KINDS[kind]}</span>
      <b>{name}</b>
      <span class="search-where">{where.filter(Boolean).join(' · ')}</span>
    </div>
  );
}

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

/** Results that are shown. */
const MOST_RESULTS = 20;

/** `text`, in lower case, is searched */
type Entry = { text: string; name: string; result: SearchResult };

const NO_RESULTS: { items: SearchResult[]; more: boolean } = { items: [], more: false };

/** The names of a fleet that this page holds: sites, devices, sensors. */
export function entriesOf({
  devices,
  sensors,
}: {
  devices: Iterable<FleetDevice>;
  sensors: Iterable<FleetSensor>;
}): Entry[] {
  const all = [...devices];
  const sites = new Set(all.flatMap(({ site }) => (site === null ? [] : [site])));
  return [
    ...[...sites].map((site) => entryOf({ ...NOTHING, kind: 'site', name: site, site })),
    ...all.map(({ id, name, site }) =>
      entryOf({ ...NOTHING, kind: 'device', name, device_id: id, device: name, site }),
    ),
    ...[...sensors].map(({ id, name, type, device }) =>
      entryOf({
        kind: 'sensor',
        name,
        device_id: device.id,
        sensor_id: id,
        device: device.name,
        type,
        site: device.site,
      }),
    ),
  ];
}

const NOTHING = { device_id: null, sensor_id: null, device: null, type: null, site: null };

function entryOf(result: SearchResult): Entry {
  const { name, device, site, type } = result;
  const text = [name, device, site, type].filter(Boolean).join('\n').toLowerCase();
  return { text, name: name.toLowerCase(), result };
}

/**
 * The API searches in the same way: see api/http/routes/search.js.
 *
 * @param text words; each is a part of the name, the type, the device or the site
 * @returns the best first: the name is the text, begins with it, contains it; others
 */
export function findEntries(entries: Entry[], text: string): { items: SearchResult[]; more: boolean } {
  const whole = text.trim().toLowerCase();
  const words = whole.split(/\s+/).filter(Boolean);
  if (words.length === 0) return NO_RESULTS;
  const found = entries.filter((entry) => words.every((word) => entry.text.includes(word)));
  const byName = sorted(found, ({ name, text: rest }) => `${name}\n${rest}`, false);
  const ranked = sorted(byName, (entry) => rankOf(entry, whole), false);
  const items = ranked.slice(0, MOST_RESULTS).map(({ result }) => result);
  return { items, more: found.length > MOST_RESULTS };
}

const KIND_RANKS = { site: 0, device: 1, sensor: 2 };

/** @returns lower is better */
function rankOf({ name, result }: Entry, whole: string): number {
  const match = name === whole ? 0 : name.startsWith(whole) ? 1 : name.includes(whole) ? 2 : 3;
  return 10 * match + KIND_RANKS[result.kind];
}

/**
 * Searches the fleet that this page holds as a whole, else asks the API.
 *
 * @returns `answered`: the text that the items match; `problem`: why nothing was found, in words
 */
function useSearch(text: string): {
  items: SearchResult[];
  more: boolean;
  answered: string;
  loading: boolean;
  problem: string;
} {
  const { client, live } = useServices();
  const { fleet } = live;
  const isHeld = live.followsAll() && fleet.holdsAll();
  const entries = useMemo(
    () => (isHeld ? entriesOf({ devices: fleet.devices.values(), sensors: fleet.sensors.values() }) : null),
    [fleet, isHeld, isHeld && fleet.structure()],
  );
  const here = useMemo(() => (entries ? findEntries(entries, text) : null), [entries, text]);
  const asked = isHeld ? '' : text.trim();
  const { data, loading, problem } = useQuery(asked, async (signal) =>
    asked ? { answered: asked, ...(await client.search(asked, signal)) } : null,
  );
  if (here) return { ...here, answered: text.trim(), loading: false, problem: '' };
  const { items, more, answered } = data ?? { ...NO_RESULTS, answered: '' };
  return {
    items,
    more,
    answered,
    loading: asked !== '' && loading,
    problem: problem ? problemWords(problem).title : '',
  };
}

/** @returns where it leads */
export function resultHref({ kind, name, device_id, sensor_id, device }: SearchResult): string {
  if (device_id === null) return `/?site=${encodeURIComponent(name)}`;
  if (kind === 'device' || sensor_id === null) return deviceHref(device_id, device);
  return sensorHref(device_id, sensor_id, { device, sensor: name });
}
