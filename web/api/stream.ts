import type { AlarmMessage, StatsEvent } from './types.ts';

export type StreamStatus = 'connecting' | 'live' | 'reconnecting';

/** The subscription of an event stream. If it has no devices and no sensors, the stream covers the whole fleet. */
export interface Target {
  /** device ids */
  devices?: string[];
  sensors?: [device: string, sensor: string][];
}

/** If no event arrives for this time in ms, the connection counts as lost. The API sends `stats` once a second. */
const SILENCE_MS = 10_000;
/** Maximum time in ms for connecting before the status changes. Each page of a table opens a new stream, so a short wait is normal. */
const GRACE_MS = 1_500;
const RETRY_MS = { first: 500, max: 8_000 };

/** Creates one event stream for all views, because a browser opens at most six connections to a host, for all tabs together. */
export function createStream({
  EventSource,
  onItems,
  onStats,
  onAlarm = () => {},
  onStatus,
  onRefused,
}: {
  EventSource: typeof globalThis.EventSource;
  /** receives the JSON of snapshot and delta events, which carry newest values; `isLast`: the event completes a snapshot */
  onItems: (text: string, isLast: boolean) => void;
  onStats: (stats: StatsEvent) => void;
  /** is called when any alarm changes */
  onAlarm?: (message: AlarmMessage) => void;
  onStatus: (status: StreamStatus) => void;
  /** is called when the API refuses the request; the session may have ended */
  onRefused: () => void;
}) {
  let source: EventSource | null = null;
  let address = '';
  let wasLive = false;
  let retryMs = RETRY_MS.first;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;
  let silenceTimer: ReturnType<typeof setTimeout> | undefined;
  let graceTimer: ReturnType<typeof setTimeout> | undefined;

  function open() {
    close();
    const opened = new EventSource(address);
    source = opened;
    // Only the last event of a snapshot has a new id.
    let lastId = '';
    const passItems = (event: MessageEvent, isSnapshot = false) => {
      const isLast = isSnapshot && event.lastEventId !== lastId;
      lastId = event.lastEventId;
      onItems(event.data, isLast);
    };
    opened.addEventListener('open', () => received());
    opened.addEventListener('snapshot', (event) => received(() => passItems(event, true)));
    opened.addEventListener('delta', (event) => received(() => passItems(event)));
    opened.addEventListener('stats', (event) => received(() => onStats(JSON.parse(event.data))));
    opened.addEventListener('alarm', (event) => received(() => onAlarm(JSON.parse(event.data))));
    opened.addEventListener('error', () => {
      reportLost();
      // An EventSource reconnects by itself, except after a refused request (not 200).
      if (opened.readyState !== EventSource.CLOSED) return;
      onRefused();
      retryLater();
    });
    silenceTimer = setTimeout(startAgain, SILENCE_MS);
  }

  function received(handle?: () => void) {
    clearTimeout(silenceTimer);
    clearTimeout(graceTimer);
    silenceTimer = setTimeout(startAgain, SILENCE_MS);
    retryMs = RETRY_MS.first;
    wasLive = true;
    onStatus('live');
    handle?.();
  }

  function reportLost() {
    clearTimeout(graceTimer);
    onStatus(wasLive ? 'reconnecting' : 'connecting');
  }

  function startAgain() {
    reportLost();
    open();
  }

  function retryLater() {
    close();
    retryTimer = setTimeout(open, retryMs);
    retryMs = Math.min(2 * retryMs, RETRY_MS.max);
  }

  function close() {
    clearTimeout(retryTimer);
    clearTimeout(silenceTimer);
    source?.close();
    source = null;
  }

  return {
    /** Replaces the earlier subscription by `target`. An equal target changes nothing. */
    follow(target: Target) {
      const next = addressOf(target);
      if (next === address) return;
      address = next;
      clearTimeout(graceTimer);
      graceTimer = setTimeout(reportLost, GRACE_MS);
      open();
    },
    /** Connects again, so that the stream begins with a snapshot again. */
    again() {
      if (address) open();
    },
    stop() {
      clearTimeout(graceTimer);
      close();
      address = '';
    },
  };
}

export function addressOf({ devices = [], sensors = [] }: Target): string {
  const parameters = [
    ...devices.map((device) => `device=${encodeURIComponent(device)}`),
    ...sensors.map(
      // A name may contain a slash, so each name is encoded. The joined text is then encoded again as a query value.
      ([device, sensor]) =>
        `sensor=${encodeURIComponent(`${encodeURIComponent(device)}/${encodeURIComponent(sensor)}`)}`,
    ),
  ];
  return `/api/v1/stream${parameters.length > 0 ? `?${parameters.join('&')}` : ''}`;
}
