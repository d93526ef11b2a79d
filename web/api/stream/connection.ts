export type StreamStatus = 'connecting' | 'live' | 'reconnecting' | 'paused';

/** If no event arrives for this time in ms, the connection counts as lost. The API sends `stats` once a second. */
const SILENCE_MS = 10_000;
/** Maximum time in ms for connecting before the status changes. A change of the subscription opens a new stream, so a short wait is normal. */
const GRACE_MS = 1_500;
const RETRY_MS = { first: 500, max: 8_000 };

/** Creates the connection to `GET /stream` of the API. It connects again after a loss, until it is closed. */
export function createConnection({
  EventSource,
  onItems,
  onStats,
  onEvent,
  onStatus,
  onRefused,
}: {
  EventSource: typeof globalThis.EventSource;
  /** receives the JSON of snapshot and delta events, which carry newest values; `isLast`: the event completes a snapshot */
  onItems: (text: string, event: { isSnapshot: boolean; isLast: boolean }) => void;
  onStats: (text: string) => void;
  onEvent: (name: string, text: string) => void;
  onStatus: (status: StreamStatus) => void;
  /** is called when the API refuses the request; the session may have ended */
  onRefused: () => void;
}) {
  const names = new Set<string>();
  let source: EventSource | null = null;
  let address = '';
  let wasLive = false;
  let retryMs = RETRY_MS.first;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;
  let silenceTimer: ReturnType<typeof setTimeout> | undefined;
  let graceTimer: ReturnType<typeof setTimeout> | undefined;

  function connect() {
    disconnect();
    const opened = new EventSource(address);
    source = opened;
    // Only the last event of a snapshot has a new id.
    let lastId = '';
    const passItems = (event: MessageEvent, isSnapshot = false) => {
      const isLast = isSnapshot && event.lastEventId !== lastId;
      lastId = event.lastEventId;
      onItems(event.data, { isSnapshot, isLast });
    };
    opened.addEventListener('open', () => received());
    opened.addEventListener('snapshot', (event) => received(() => passItems(event, true)));
    opened.addEventListener('delta', (event) => received(() => passItems(event)));
    opened.addEventListener('stats', (event) => received(() => onStats(event.data)));
    for (const name of names) receive(opened, name);
    opened.addEventListener('error', () => {
      reportLost();
      // An EventSource reconnects by itself, except after a refused request (not 200).
      if (opened.readyState !== EventSource.CLOSED) return;
      onRefused();
      retryLater();
    });
    silenceTimer = setTimeout(startAgain, SILENCE_MS);
  }

  function receive(opened: EventSource, name: string) {
    opened.addEventListener(name, (event) => received(() => onEvent(name, event.data)));
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
    connect();
  }

  function retryLater() {
    disconnect();
    retryTimer = setTimeout(connect, retryMs);
    retryMs = Math.min(2 * retryMs, RETRY_MS.max);
  }

  function disconnect() {
    clearTimeout(retryTimer);
    clearTimeout(silenceTimer);
    source?.close();
    source = null;
  }

  return {
    listen(name: string) {
      if (names.has(name)) return;
      names.add(name);
      if (source) receive(source, name);
    },
    /** Opens the stream at an address, which begins with a snapshot. An earlier stream ends. */
    open(next: string) {
      address = next;
      clearTimeout(graceTimer);
      graceTimer = setTimeout(reportLost, GRACE_MS);
      connect();
    },
    close() {
      clearTimeout(graceTimer);
      disconnect();
    },
  };
}
