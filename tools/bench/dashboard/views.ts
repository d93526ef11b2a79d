import { setTimeout as sleep } from 'node:timers/promises';
import type { CDPSession, Page } from 'playwright-core';
import { MillraceError } from '../../../common/errors.ts';

/** The requests of the browser until a view is complete. */
export interface Weight {
  /** requests for the page, its scripts and styles; files of the browser's cache do not count */
  files: number;
  /** requests below `/api/` */
  data: number;
  /** size of all answers on the wire, with their headers, in units of 1,000 bytes */
  kilobytes: number;
}

/** `first`: with an empty cache. */
export type Views = { first: Weight; reload: Weight };

/** `bytes`: that have arrived so far. */
type Request = { isData: boolean; isStream: boolean; isCached: boolean; isOver: boolean; bytes: number };

/** A view is complete when nothing has changed for this long, in ms, neither a request nor the snapshot of the stream. */
const QUIET_MS = 500;

const COMPLETE_MS = 120_000;

const LOOK_MS = 50;

/** The page evaluates it: it shows cells, and no row of its list waits for data. */
const IS_DRAWN = "window.benchSeen?.firstCellsMs != null && document.querySelector('.waiting') === null";

export class RequestCount {
  #requests: Map<string, Request> = new Map();
  #changedAt = performance.now();

  /** @param debuggee a session with the domain `Network` enabled */
  constructor(debuggee: Pick<CDPSession, 'on'>) {
    debuggee.on('Network.requestWillBeSent', ({ requestId, request: { url }, type }) => {
      const { protocol, pathname } = new URL(url);
      if (!/^https?:$/.test(protocol)) return;
      const isStream = type === 'EventSource';
      const isData = pathname.startsWith('/api/');
      this.#requests.set(requestId, { isData, isStream, isCached: false, isOver: false, bytes: 0 });
      this.#changedAt = performance.now();
    });
    debuggee.on('Network.requestServedFromCache', ({ requestId }) =>
      this.#change(requestId, { isCached: true }),
    );
    debuggee.on('Network.responseReceived', ({ requestId, response: { encodedDataLength, fromDiskCache } }) =>
      this.#change(requestId, { bytes: encodedDataLength, ...(fromDiskCache && { isCached: true }) }),
    );
    debuggee.on('Network.dataReceived', ({ requestId, encodedDataLength }) => {
      const request = this.#requests.get(requestId);
      if (request) request.bytes += Math.max(0, encodedDataLength);
    });
    debuggee.on('Network.loadingFinished', ({ requestId, encodedDataLength }) =>
      this.#change(requestId, { isOver: true, bytes: encodedDataLength }),
    );
    debuggee.on('Network.loadingFailed', ({ requestId }) => this.#change(requestId, { isOver: true }));
    debuggee.on('Network.eventSourceMessageReceived', ({ eventName }) => {
      if (eventName === 'snapshot') this.#changedAt = performance.now();
    });
  }

  #change(requestId: string, changes: Partial<Request>) {
    const request = this.#requests.get(requestId);
    if (!request) return;
    Object.assign(request, changes);
    this.#changedAt = performance.now();
  }

  /** The live stream never ends, so it does not count. */
  get isWaiting() {
    return [...this.#requests.values()].some(({ isOver, isStream }) => !isOver && !isStream);
  }

  get quietMs() {
    return performance.now() - this.#changedAt;
  }

  /** Weight of the requests since the last call. */
  take(): Weight {
    const sent = [...this.#requests.values()].filter(({ isCached }) => !isCached);
    this.#requests.clear();
    const data = sent.filter(({ isData }) => isData).length;
    const bytes = sent.reduce((sum, request) => sum + request.bytes, 0);
    return { files: sent.length - data, data, kilobytes: bytes / 1000 };
  }
}

/**
 * @param opened a new empty page, with the script that records its first cells
 * @throws {MillraceError} `failed`: the view was not complete within the time limit
 */
export async function weighViews(
  { page, debuggee }: { page: Page; debuggee: CDPSession },
  url: string,
): Promise<Views> {
  await debuggee.send('Network.enable');
  const requests = new RequestCount(debuggee);

  async function complete() {
    const deadline = performance.now() + COMPLETE_MS;
    while (requests.isWaiting || requests.quietMs < QUIET_MS || !(await page.evaluate(IS_DRAWN))) {
      if (performance.now() > deadline)
        throw new MillraceError('failed', `${url} was not complete within ${COMPLETE_MS / 1000} s.`);
      await sleep(LOOK_MS);
    }
    return requests.take();
  }

  await page.goto(url);
  const first = await complete();
  await page.reload();
  return { first, reload: await complete() };
}

export const requestsOf = ({ files, data }: Weight): number => files + data;
