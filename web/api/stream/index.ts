import type { StatsEvent } from '../types.ts';
import type { StreamStatus } from './connection.ts';
import type { Connect, HubMessage, TabState, Transport } from './messages.ts';
import { RENEW_MS } from './messages.ts';
import type { Target } from './target.ts';
import { addressOf } from './target.ts';

/** If the hub is silent for this time in ms, although it answers each state, the tab connects again. */
const SILENCE_MS = 3 * RENEW_MS;
/** The same before the first answer: on a busy machine, a shared worker starts slowly. */
const FIRST_SILENCE_MS = 15_000;

export interface Page {
  document: Pick<Document, 'hidden' | 'addEventListener'>;
  window: Pick<Window, 'addEventListener'>;
}

export interface StreamListeners {
  /** receives the JSON of newest values; `isLast`: the event completes a snapshot */
  onItems: (text: string, isLast: boolean) => void;
  onStats: (stats: StatsEvent) => void;
  onEvent?: (name: string) => void;
  onStatus: (status: StreamStatus) => void;
  onRefused: () => void;
}

/**
 * The event stream of a tab, which takes part in the stream that all tabs share.
 *
 * @param options `ways`: ways to share the stream, the best first; if one fails, the next is used; `events`: further kinds
 *   of events
 */
export class Stream {
  readonly #ways: readonly Connect[];
  readonly #page: Page;
  readonly #events: readonly string[];
  readonly #listeners: StreamListeners;
  #target: Target | null = null;
  #transport: Transport | null = null;
  #way = 0;
  #isAnswered = false;
  #hubStatus: StreamStatus = 'connecting';
  #renewTimer: ReturnType<typeof setTimeout> | undefined;
  #silenceTimer: ReturnType<typeof setTimeout> | undefined;

  readonly #disconnect = () => {
    clearTimeout(this.#renewTimer);
    clearTimeout(this.#silenceTimer);
    this.#transport?.close();
    this.#transport = null;
  };

  readonly #connectAgain = () => {
    if (this.#isAnswered) this.#setStatus('reconnecting');
    else this.#way = Math.min(this.#way + 1, this.#ways.length - 1);
    this.#disconnect();
    this.#connect();
  };

  readonly #send = (wants?: TabState['wants']) => {
    clearTimeout(this.#renewTimer);
    const isShown = !this.#page.document.hidden;
    this.#transport?.post({ target: this.#target, isShown, wants, events: this.#events });
    const isActive = isShown && this.#target !== null;
    if (isActive) this.#renewTimer = setTimeout(this.#send, RENEW_MS);
    if (!isActive || wants !== undefined) this.#expectAnswer();
  };

  constructor({
    ways,
    page,
    events = [],
    ...listeners
  }: { ways: readonly Connect[]; page: Page; events?: readonly string[] } & StreamListeners) {
    this.#ways = ways;
    this.#events = events;
    this.#page = page;
    this.#listeners = listeners;
    page.document.addEventListener('visibilitychange', () => {
      if (!this.#transport) return;
      this.#send(this.#page.document.hidden ? undefined : 'snapshot');
      this.#setStatus(this.#hubStatus);
    });
    // A page that the browser keeps for the button Back must not hold anything.
    page.window.addEventListener('pagehide', this.#disconnect);
    page.window.addEventListener('pageshow', ({ persisted }) => {
      if (persisted) this.#connect();
    });
    this.#connect();
  }

  /** Replaces the earlier subscription. An equal target changes nothing. */
  follow(next: Target) {
    if (this.#target && addressOf(next) === addressOf(this.#target)) return;
    this.#target = next;
    this.#send('snapshot');
  }

  again() {
    if (this.#target) this.#send('fresh');
  }

  stop() {
    this.#target = null;
    this.#send();
  }

  #connect() {
    this.#isAnswered = false;
    const isCurrent = (): boolean => this.#transport === connected;
    const connected: Transport | null =
      this.#ways[this.#way]?.({
        onMessage: (message) => void (isCurrent() && this.#receive(message)),
        onNewHub: () => isCurrent() && this.#send('snapshot'),
        onFailed: () => isCurrent() && this.#connectAgain(),
      }) ?? null;
    this.#transport = connected;
    this.#send('snapshot');
  }

  #expectAnswer() {
    clearTimeout(this.#silenceTimer);
    if (this.#page.document.hidden || this.#target === null) return;
    this.#silenceTimer = setTimeout(this.#connectAgain, this.#isAnswered ? SILENCE_MS : FIRST_SILENCE_MS);
  }

  #receive(message: HubMessage) {
    this.#isAnswered = true;
    this.#expectAnswer();
    if (message.type === 'status') this.#setStatus(message.status);
    else if (message.type === 'items') this.#listeners.onItems(message.text, message.isLast);
    else if (message.type === 'stats') this.#listeners.onStats(JSON.parse(message.text));
    else if (message.type === 'event') this.#listeners.onEvent?.(message.name);
    else this.#listeners.onRefused();
  }

  #setStatus(status: StreamStatus) {
    this.#hubStatus = status;
    // A hidden tab has old values, also while the stream sends new ones to other tabs.
    if (this.#page.document.hidden) this.#listeners.onStatus(status === 'reconnecting' ? status : 'paused');
    // For a shown tab, the hub opens a stream at once.
    else if (status !== 'paused') this.#listeners.onStatus(status);
  }
}
export type { StreamStatus } from './connection.ts';
export { lazily, viaWorker } from './ports.ts';
export type { Target } from './target.ts';
export { FIGURES_ALONE, keyOf } from './target.ts';
