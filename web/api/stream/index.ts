import type { AlarmMessage, StatsEvent } from '../types.ts';
import type { StreamStatus } from './connection.ts';
import type { Connect, HubMessage, TabState, Transport } from './messages.ts';
import { RENEW_MS } from './messages.ts';
import type { Target } from './target.ts';
import { addressOf } from './target.ts';

/** If the hub is silent for this time in ms, although it answers each state, the tab connects again. */
const SILENCE_MS = 3 * RENEW_MS;
/** The same before the first answer: on a busy machine, a shared worker starts slowly. */
const FIRST_SILENCE_MS = 15_000;

/** The parts of a window that show whether people see the page. */
export interface Page {
  document: Pick<Document, 'hidden' | 'addEventListener'>;
  window: Pick<Window, 'addEventListener'>;
}

export interface StreamListeners {
  /** receives the JSON of newest values; `isLast`: the event completes a snapshot */
  onItems: (text: string, isLast: boolean) => void;
  onStats: (stats: StatsEvent) => void;
  /** is called when any alarm changes */
  onAlarm?: (message: AlarmMessage) => void;
  onStatus: (status: StreamStatus) => void;
  /** is called when the API refuses the request; the session may have ended */
  onRefused: () => void;
}

/**
 * Creates the event stream of a tab, which takes part in the stream that all tabs share.
 *
 * @param options `ways`: ways to share the stream, the best first; if one fails, the next is used
 */
export function createStream({
  ways,
  page,
  onItems,
  onStats,
  onAlarm = () => {},
  onStatus,
  onRefused,
}: { ways: readonly Connect[]; page: Page } & StreamListeners) {
  let target: Target | null = null;
  let transport: Transport | null = null;
  let way = 0;
  let isAnswered = false;
  let hubStatus: StreamStatus = 'connecting';
  let renewTimer: ReturnType<typeof setTimeout> | undefined;
  let silenceTimer: ReturnType<typeof setTimeout> | undefined;

  function connect() {
    isAnswered = false;
    const isCurrent = (): boolean => transport === connected;
    const connected: Transport | null =
      ways[way]?.({
        onMessage: (message) => void (isCurrent() && receive(message)),
        onNewHub: () => isCurrent() && send('snapshot'),
        onFailed: () => isCurrent() && connectAgain(),
      }) ?? null;
    transport = connected;
    send('snapshot');
  }

  function disconnect() {
    clearTimeout(renewTimer);
    clearTimeout(silenceTimer);
    transport?.close();
    transport = null;
  }

  function connectAgain() {
    if (isAnswered) setStatus('reconnecting');
    else way = Math.min(way + 1, ways.length - 1);
    disconnect();
    connect();
  }

  function send(wants?: TabState['wants']) {
    clearTimeout(renewTimer);
    const isShown = !page.document.hidden;
    transport?.post({ target, isShown, wants });
    const isActive = isShown && target !== null;
    if (isActive) renewTimer = setTimeout(send, RENEW_MS);
    if (!isActive || wants !== undefined) expectAnswer();
  }

  function expectAnswer() {
    clearTimeout(silenceTimer);
    if (page.document.hidden || target === null) return;
    silenceTimer = setTimeout(connectAgain, isAnswered ? SILENCE_MS : FIRST_SILENCE_MS);
  }

  function receive(message: HubMessage) {
    isAnswered = true;
    expectAnswer();
    if (message.type === 'status') setStatus(message.status);
    else if (message.type === 'items') onItems(message.text, message.isLast);
    else if (message.type === 'stats') onStats(JSON.parse(message.text));
    else if (message.type === 'alarm') onAlarm(JSON.parse(message.text));
    else onRefused();
  }

  function setStatus(status: StreamStatus) {
    hubStatus = status;
    // A hidden tab has old values, also while the stream sends new ones to other tabs.
    if (page.document.hidden) onStatus(status === 'reconnecting' ? status : 'paused');
    // For a shown tab, the hub opens a stream at once.
    else if (status !== 'paused') onStatus(status);
  }

  page.document.addEventListener('visibilitychange', () => {
    if (!transport) return;
    send(page.document.hidden ? undefined : 'snapshot');
    setStatus(hubStatus);
  });
  // A page that the browser keeps for the button Back must not hold anything.
  page.window.addEventListener('pagehide', disconnect);
  page.window.addEventListener('pageshow', ({ persisted }) => {
    if (persisted) connect();
  });
  connect();

  return {
    /** Replaces the earlier subscription. An equal target changes nothing. */
    follow(next: Target) {
      if (target && addressOf(next) === addressOf(target)) return;
      target = next;
      send('snapshot');
    },
    /** Requests a snapshot of the API. */
    again() {
      if (target) send('fresh');
    },
    stop() {
      target = null;
      send();
    },
  };
}

export type Stream = ReturnType<typeof createStream>;
export type { StreamStatus } from './connection.ts';
export { lazily, viaWorker } from './ports.ts';
export type { Target } from './target.ts';
export { FIGURES_ALONE } from './target.ts';
