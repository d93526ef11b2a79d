import type { LatestItem } from '../types.ts';
import type { StreamStatus } from './connection.ts';
import { createConnection } from './connection.ts';
import type { HubMessage, TabState } from './messages.ts';
import type { Target } from './target.ts';
import { addressOf, covers, keyOf, selectorOf, unionOf } from './target.ts';

/** Time in ms without a state after which a tab counts as hidden. It may have crashed, or the browser has frozen it. */
const LEASE_MS = 15_000;
/** Time in ms for which the stream keeps what no shown tab needs, because people return to a tab. */
export const RELEASE_MS = 5_000;
/** Maximum age in ms of the pipeline statistics that a new tab gets. */
const STATS_MS = 2_000;
/** Maximum number of items in an event, as in those of the API. */
const MAX_ITEMS = 250;

interface Tab {
  state: TabState;
  post: (message: HubMessage) => void;
  has: (item: LatestItem) => boolean;
  renewedAt: number;
  /** whether the tab has missed events of a snapshot, so that it waits for the end of the snapshot */
  isWaiting: boolean;
}

/**
 * Shares one event stream among the tabs of a browser, because a browser opens at most six connections to a host. The stream
 * has what the shown tabs need together. Hidden tabs get only statistics, further events and the status.
 */
export class StreamHub {
  #tabs = new Map<unknown, Tab>();
  #connection;
  #status: StreamStatus = 'paused';
  #opened: Target | null = null;
  #items = new Map<string, LatestItem>();
  #isComplete = false;
  #stats = { text: '', at: Number.NEGATIVE_INFINITY };
  #releaseTimer: ReturnType<typeof setTimeout> | undefined;
  #leaseTimer;
  #clock;

  constructor({
    EventSource,
    clock = Date.now,
  }: {
    EventSource: typeof globalThis.EventSource;
    clock?: () => number;
  }) {
    this.#clock = clock;
    this.#connection = createConnection({
      EventSource,
      onItems: (text, event) => this.#onItems(text, event),
      onStats: (text) => {
        this.#stats = { text, at: clock() };
        this.#postAll({ type: 'stats', text });
      },
      onEvent: (name, text) => this.#postAll({ type: 'event', name, text }),
      onStatus: (status) => this.#setStatus(status),
      onRefused: () => this.#postAll({ type: 'refused' }),
    });
    this.#leaseTimer = setInterval(() => this.#endLeases(), LEASE_MS / 3);
  }

  take(key: unknown, state: TabState, post: (message: HubMessage) => void) {
    const known = this.#tabs.get(key);
    const tab = known ?? { state, post, has: () => true, renewedAt: 0, isWaiting: false };
    const isChanged =
      !known ||
      state.wants !== undefined ||
      state.isShown !== tab.state.isShown ||
      (state.target === null) !== (tab.state.target === null);
    this.#tabs.set(key, tab);
    for (const name of state.events ?? []) this.#connection.listen(name);
    tab.renewedAt = this.#clock();
    tab.state = state;
    if (state.wants !== undefined && state.target) tab.has = selectorOf(state.target);
    if (isChanged) {
      tab.isWaiting = needsItems(tab) && (this.#isComplete || this.#items.size > 0);
      this.#settle({ isFresh: state.wants === 'fresh' && needsItems(tab) });
    }
    post({ type: 'status', status: this.#status });
    if (!isChanged) return;
    if (this.#stats.at > this.#clock() - STATS_MS) post({ type: 'stats', text: this.#stats.text });
    if (tab.isWaiting && this.#isComplete) this.#sendSnapshot(tab);
  }

  serve(port: MessagePort) {
    const post = (message: HubMessage) => port.postMessage(message);
    port.onmessage = ({ data }: MessageEvent<TabState | null>) => {
      if (data) return this.take(port, data, post);
      this.remove(port);
      port.close();
    };
  }

  remove(key: unknown) {
    if (this.#tabs.delete(key)) this.#settle();
  }

  end() {
    clearInterval(this.#leaseTimer);
    clearTimeout(this.#releaseTimer);
    this.#connection.close();
  }

  /** Adapts the stream to what the shown tabs need: more at once, less after a while. */
  #settle({ isFresh = false } = {}) {
    clearTimeout(this.#releaseTimer);
    const needed = this.#needed();
    if (needed && (isFresh || !this.#opened || !covers(this.#opened, needed))) return this.#open(needed);
    if (!this.#opened || (needed && addressOf(needed) === addressOf(this.#opened))) return;
    const mayReturn = [...this.#tabs.values()].some(({ state }) => state.target);
    if (mayReturn && this.#status === 'live') {
      this.#releaseTimer = setTimeout(() => this.#open(this.#needed()), RELEASE_MS);
    } else this.#open(needed);
  }

  #needed() {
    return unionOf(
      [...this.#tabs.values()].flatMap((tab) => (needsItems(tab) ? [tab.state.target ?? {}] : [])),
    );
  }

  #open(target: Target | null) {
    this.#opened = target;
    this.#items.clear();
    this.#isComplete = false;
    for (const tab of this.#tabs.values()) tab.isWaiting = false;
    if (target) {
      if (this.#status === 'paused') this.#setStatus('connecting');
      this.#connection.open(addressOf(target));
    } else {
      this.#connection.close();
      this.#setStatus('paused');
    }
  }

  #onItems(text: string, { isSnapshot, isLast }: { isSnapshot: boolean; isLast: boolean }) {
    if (isSnapshot && this.#isComplete) {
      this.#items.clear();
      this.#isComplete = false;
    }
    const event: { items: LatestItem[] } = JSON.parse(text);
    for (const item of event.items) this.#items.set(keyOf(item), item);
    for (const tab of this.#tabs.values()) {
      if (!needsItems(tab) || tab.isWaiting) continue;
      const items = event.items.filter(tab.has);
      if (items.length === 0 && !isLast) continue;
      const itemsText = items.length < event.items.length ? JSON.stringify({ ...event, items }) : text;
      tab.post({ type: 'items', text: itemsText, isLast });
    }
    if (!isLast) return;
    this.#isComplete = true;
    for (const tab of this.#tabs.values()) if (needsItems(tab) && tab.isWaiting) this.#sendSnapshot(tab);
  }

  #sendSnapshot(tab: Tab) {
    tab.isWaiting = false;
    const items = [...this.#items.values()].filter(tab.has);
    for (let index = 0; index === 0 || index < items.length; index += MAX_ITEMS) {
      const isLast = index + MAX_ITEMS >= items.length;
      tab.post({
        type: 'items',
        text: JSON.stringify({ items: items.slice(index, index + MAX_ITEMS) }),
        isLast,
      });
    }
  }

  #setStatus(status: StreamStatus) {
    if (status === this.#status) return;
    this.#status = status;
    this.#postAll({ type: 'status', status });
  }

  #postAll(message: HubMessage) {
    for (const { post } of this.#tabs.values()) post(message);
  }

  #endLeases() {
    const oldest = this.#clock() - LEASE_MS;
    const ended = [...this.#tabs.values()].filter((tab) => tab.state.isShown && tab.renewedAt < oldest);
    for (const tab of ended) tab.state = { ...tab.state, isShown: false };
    if (ended.length > 0) this.#settle();
  }
}

const needsItems = ({ state }: Tab) => state.isShown && state.target !== null;
