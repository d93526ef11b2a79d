import type { Signal } from '@preact/signals';
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Stream, StreamListeners, StreamStatus, Target } from '../api/stream/index.ts';
import { FIGURES_ALONE, keyOf } from '../api/stream/index.ts';
import type { Delta, LatestItem, ProcessHealth, StatsEvent } from '../api/types.ts';
import type { Judge } from './cells.ts';
import { Fleet, type FleetFilter, type FleetSensor } from './fleet.ts';
import { createChangeQueue, createInputQueue, createRecentValues } from './frames.ts';
import { useServices } from './hooks.ts';

interface Health {
  processes: ProcessHealth[];
  /** time of the last event in epoch ms by the clock of the machine; before the first event, time when the page was opened */
  receivedAt: number;
  /** time of the last event with an ingest process, in epoch ms by the clock of the machine */
  ingestAt: number;
}

const noHealth = (openedAt: number): Health => ({ processes: [], receivedAt: openedAt, ingestAt: openedAt });

/** @param waitedMs time from the commit until the server sent the values @param arrivedAt time by `performance.now` */
type DeltaListener = (waitedMs: number, arrivedAt: number) => void;

/**
 * The live data of the server. While the page follows the whole fleet, `fleet` holds all sensors, and earlier values are
 * kept only for the sensors that were passed to `seed`.
 */
export class Live {
  readonly status = signal<StreamStatus>('connecting');
  readonly stats = signal<Omit<StatsEvent, 'health'> | null>(null);
  readonly health = signal<Health>(noHealth(Date.now()));
  /** counts changes of stored samples, after which charts and tables read them again */
  readonly historyChanges = signal(0);
  readonly fleet: Fleet;
  readonly #events: Map<string, Signal<number>> = new Map();
  readonly #sensors = createRecentValues();
  readonly #watchers: Set<(changed: readonly FleetSensor[]) => void> = new Set();
  readonly #changed: ReturnType<typeof createChangeQueue>;
  readonly #deltaListeners: DeltaListener[] = [];
  readonly #stream: Pick<Stream, 'follow' | 'again' | 'stop'>;
  readonly #requestFrame: (run: () => void) => void;
  readonly #isHidden: () => boolean;
  #whole = false;
  #isFollowed = false;
  #isRequested = false;
  #resumedAt = Date.now();

  constructor({
    openStream,
    requestFrame,
    isHidden = () => false,
    judge,
  }: {
    openStream: (listeners: Omit<StreamListeners, 'onRefused'>) => Pick<Stream, 'follow' | 'again' | 'stop'>;
    requestFrame: (run: () => void) => void;
    isHidden?: () => boolean;
    judge?: Judge | undefined;
  }) {
    this.fleet = new Fleet({ judge });
    this.#requestFrame = requestFrame;
    this.#isHidden = isHidden;
    this.#changed = createChangeQueue(requestFrame);
    const input = createInputQueue({
      take: (text, arrivedAt, isLast) => this.#take(text, arrivedAt, isLast),
      requestFrame,
      isHidden,
    });
    this.#stream = openStream({
      // A snapshot of a device may still wait in the queue when the page already follows the whole fleet. So `isLast` counts
      // only if the page already followed the whole fleet when the text arrived.
      onItems: (text, isLast) => input.push(text, isLast && this.#whole),
      onStats: (event) => this.#takeStats(event),
      onStatus: (next) => {
        if (this.status.peek() === 'paused' && next !== 'paused') this.#resumedAt = Date.now();
        this.status.value = next;
      },
      onEvent: (name) => {
        this.changesOf(name).value++;
      },
    });
  }

  /** @returns number of events of a further kind since the page was opened */
  changesOf(name: string): Signal<number> {
    const known = this.#events.get(name) ?? signal(0);
    this.#events.set(name, known);
    return known;
  }

  /** @param listener is called for each event with changed values, while the page is not hidden */
  onDelta(listener: DeltaListener) {
    this.#deltaListeners.push(listener);
  }

  follow(target: Target) {
    this.#whole = !target.devices && !target.sensors;
    this.#isFollowed = true;
    this.#stream.follow(target);
  }

  /** Subscribes to the pipeline statistics, unless a view has subscribed already. */
  begin() {
    if (!this.#isFollowed) this.follow(FIGURES_ALONE);
  }

  /** Subscribes only to the pipeline statistics, for a large fleet whose outliers the server ranks. */
  followFigures() {
    this.#whole = false;
    this.fleet.setFilter({});
    this.#stream.follow(FIGURES_ALONE);
  }

  setFilter(wanted: FleetFilter) {
    this.fleet.setFilter(wanted);
    this.#stream.again();
  }

  /** @returns time in epoch ms, by the clock of the machine, when the page was opened or last became visible */
  resumedAt() {
    return this.#resumedAt;
  }

  forget(id: string) {
    this.fleet.forget(id);
    this.#stream.again();
  }

  /** Requests a new snapshot, because the event stream does not report retired devices. */
  readAgain() {
    this.fleet.noteAsked();
    this.#stream.again();
  }

  stop() {
    this.#isFollowed = false;
    this.#stream.stop();
  }

  /** Adds the items of a page, which count until the event stream sends newer values. */
  seed(items: LatestItem[]) {
    return items.forEach(this.#sensors.take);
  }

  /** Adds earlier values of a sensor. @param before values from before the page was opened, oldest first */
  seedBefore(key: string, before: { ts: number; value: number }[]) {
    if (this.#sensors.takeBefore(key, before)) this.#changed.notify(key);
  }

  decimals(item: LatestItem): number {
    return this.#sensors.decimals(item);
  }

  sensor(key: string) {
    return this.#sensors.get(key);
  }

  subscribe(key: string, listener: () => void): () => void {
    return this.#changed.subscribe(key, listener);
  }

  /** @param watcher receives all changed sensors of the fleet, once per animation frame */
  readonly watch = (watcher: (changed: readonly FleetSensor[]) => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  /** Notifies the watchers in the next animation frame, also of changes that did not come from the event stream. */
  notifyWatchers() {
    if (this.#isRequested) return;
    this.#isRequested = true;
    this.#requestFrame(() => {
      this.#isRequested = false;
      const drained = this.fleet.drain();
      for (const watcher of [...this.#watchers]) watcher(drained);
    });
  }

  #take(text: string, arrivedAt: number, isLast: boolean) {
    const { items, committed_at, sent_at }: Partial<Delta> & { items: LatestItem[] } = JSON.parse(text);
    const isOfSnapshot = sent_at === undefined;
    if (committed_at && sent_at && !this.#isHidden()) {
      const waitedMs = Date.parse(sent_at) - Date.parse(committed_at);
      for (const listener of this.#deltaListeners) listener(waitedMs, arrivedAt);
    }
    for (const item of items) {
      const key = keyOf(item);
      if (this.#whole && this.fleet.take(key, item, isOfSnapshot)) this.notifyWatchers();
      if (this.#whole && !this.#sensors.get(key)) continue;
      if (this.#sensors.take(item)) this.#changed.notify(key);
    }
    if (this.#whole && isLast) this.fleet.noteRead();
  }

  #takeStats({ health: processes, ...next }: StatsEvent) {
    const receivedAt = Date.now();
    const takes = processes.some(({ role }) => role !== 'http');
    this.health.value = { processes, receivedAt, ingestAt: takes ? receivedAt : this.health.peek().ingestAt };
    this.stats.value = next;
  }
}

/** Calls `onEvent` after events of a further kind. @param onEvent must be the same function at each drawing */
export function useEvents(name: string, onEvent: () => void) {
  const { live } = useServices();
  const events = live.changesOf(name).value;
  const seen = useRef(events);
  useEffect(() => {
    if (seen.current === events) return;
    seen.current = events;
    onEvent();
  }, [events, onEvent]);
}

/** Keeps the event stream open for views without sensors, so that pipeline statistics and connection state are known. */
export function useFiguresAlone() {
  useFollowed(NO_SENSORS);
}

type SensorIds = { device_id: string; sensor_id: string };

const NO_SENSORS: readonly SensorIds[] = [];

/** Follows the newest values of some sensors. Without sensors, the event stream stays open for the state of the connection. */
export function useFollowed(sensors: readonly SensorIds[]) {
  const { live } = useServices();
  const keys = [...new Set(sensors.map(keyOf))].sort().join(' ');
  useEffect(() => {
    if (keys === '') return live.follow(FIGURES_ALONE);
    return live.follow({ sensors: keys.split(' ').map((key) => key.split('/') as [string, string]) });
  }, [live, keys]);
}
