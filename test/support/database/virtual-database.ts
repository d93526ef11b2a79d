import { CongestionWindow, Permits } from '../../../api/store/sending/congestion-window.ts';

/** Interval in which the size of the window is recorded, in ms of virtual time. */
const RECORD_EVERY_MS = 10;

/**
 * Makes a database under load, in virtual time. It processes some requests at once, in order of arrival, and the others wait
 * in it. Each request passes the permits and the window of ingest, so that a test sees their joint effect. A minute of load
 * takes less than a second.
 */
export function createVirtualDatabase({
  servers,
  serviceMs,
  max = 1024,
}: {
  /** requests that it processes at once */
  servers: number;
  /** service time of each request */
  serviceMs: number | (() => number);
  /** requests in flight, `INGEST_MAX_IN_FLIGHT` */
  max?: number;
}) {
  let now = 0;
  let service = serviceMs;
  let failureOf: () => unknown = () => undefined;
  let arrived = 0;
  let nextRecord = 0;
  const window = new CongestionWindow({ max, now: () => now });
  const permits = new Permits(window);
  /** requests in progress, the first to end last */
  const served: Array<{ sentAt: number; endsAt: number }> = [];
  /** times at which the waiting requests were sent, the oldest first */
  const queued: number[] = [];

  /** @param sentAt in ms */
  function serve(sentAt: number) {
    const endsAt = now + (typeof service === 'number' ? service : service());
    let place = served.length;
    while (place > 0 && Number(served[place - 1]?.endsAt) <= endsAt) place--;
    served.splice(place, 0, { sentAt, endsAt });
  }

  function send() {
    if (served.length < servers) serve(now);
    else queued.push(now);
  }

  function request() {
    arrived++;
    const permit = permits.enter();
    if (permit !== undefined) void permit.then(send);
    else send();
  }

  function answerNext() {
    const { sentAt } = served.pop() as { sentAt: number };
    const oldest = queued.shift();
    if (oldest !== undefined) serve(oldest);
    permits.leave(sentAt, failureOf());
  }

  return {
    window,
    permits,

    /** @param ms new service time of each request */
    slow(ms: number | (() => number)) {
      service = ms;
    },

    /** @param error the error of the next request; undefined: it succeeds */
    fail(error: () => unknown) {
      failureOf = error;
    },

    /**
     * @param seconds of virtual time
     * @param offered requests per ms; without it there are always more than the window allows
     * @returns the sizes of the window, one for each 10 ms
     */
    async run(seconds: number, offered?: number): Promise<number[]> {
      const sizes: number[] = [];
      const end = now + seconds * 1000;
      const firstArrival = now;
      arrived = 0;
      for (;;) {
        if (offered === undefined) while (permits.inUse + permits.waiting <= max) request();
        // Requests with new permits are sent in the microtasks before this one continues.
        await null;
        const arrival = offered === undefined ? Number.POSITIVE_INFINITY : firstArrival + arrived / offered;
        const answer = served.at(-1)?.endsAt ?? Number.POSITIVE_INFINITY;
        const next = Math.min(arrival, answer, end);
        for (; nextRecord < next; nextRecord += RECORD_EVERY_MS) sizes.push(window.size);
        now = next;
        if (now >= end) return sizes;
        if (answer === next) answerNext();
        else request();
      }
    },
  };
}
