import { EVERY_DEVICE } from '../../live/index.ts';

/**
 * Finds out which devices the readers of an installation follow, behind an external broker. A broker does not report its
 * subscribers. So each process with readers announces the devices that its readers follow, and a process that commits
 * publishes only changes of these devices. Without any reader, live values are neither encoded nor sent. At 50 sensors a
 * message, encoding and sending take a quarter of the CPU of ingest.
 */

/** In ms. A change of the followed devices is announced at once. */
const ANNOUNCE_EVERY_MS = 5000;

/** Validity of an announcement, in ms. It is more than three intervals, so two announcements may be lost. */
const LEASE_MS = 16_000;

/** Keeps an announcement below 40 KB. A process that follows more devices announces all devices. */
const MAX_DEVICES = 1000;

/** Announcements of further processes are ignored. Any client may send announcements if the broker has no access control. */
const MAX_READERS = 1000;

function readAnnouncement(payload: Buffer): string[] | null {
  try {
    const { devices } = JSON.parse(payload.toString());
    const isValid =
      Array.isArray(devices) &&
      devices.length <= MAX_DEVICES &&
      devices.every((device) => typeof device === 'string');
    return isValid ? devices : null;
  } catch {
    return null;
  }
}

export class Interest {
  #monotonic;
  #onNew;
  /** By process. `until`: end of the validity. */
  #readers: Map<string, { devices: Set<string>; until: number }> = new Map();
  /** In ms of `monotonic`. Until then every change is published, because some processes may not have announced their readers yet. */
  #everythingUntil = Number.NEGATIVE_INFINITY;
  /** When the validity of the first announcement ends, in ms of `monotonic`. */
  #checkAt = Number.POSITIVE_INFINITY;
  #wantsAll = false;

  constructor({
    onNew,
    monotonic = () => performance.now(),
  }: {
    onNew: () => void;
    monotonic?: () => number;
  }) {
    this.#onNew = onNew;
    this.#monotonic = monotonic;
  }

  /** Publishes every change for a while after a new connection, because announcements may have been missed. */
  begin() {
    this.#everythingUntil = this.#monotonic() + LEASE_MS;
  }

  has(device: string): boolean {
    const now = this.#monotonic();
    if (now >= this.#checkAt) this.#forgetEnded(now);
    return now < this.#everythingUntil || this.#isFollowed(device);
  }

  /** @param reader name of the process @returns whether the payload is a valid announcement */
  receive(reader: string, payload: Buffer): boolean {
    const announced = readAnnouncement(payload);
    if (!announced || (this.#readers.size >= MAX_READERS && !this.#readers.has(reader))) return false;
    const isNew = announced.some((device) => !this.#isFollowed(device));
    const until = this.#monotonic() + LEASE_MS;
    this.#readers.set(reader, { devices: new Set(announced), until });
    this.#summarize();
    if (isNew) this.#onNew();
    return true;
  }

  #isFollowed(device: string): boolean {
    if (this.#wantsAll) return true;
    // Each message runs this loop, so the readers are not copied into an array.
    for (const { devices } of this.#readers.values()) if (devices.has(device)) return true;
    return false;
  }

  #forgetEnded(now: number) {
    for (const [reader, { until }] of this.#readers) if (until <= now) this.#readers.delete(reader);
    this.#summarize();
  }

  #summarize() {
    const all = [...this.#readers.values()];
    this.#checkAt = Math.min(...all.map(({ until }) => until));
    this.#wantsAll = all.some(({ devices }) => devices.has(EVERY_DEVICE));
  }
}

export class Announcer {
  #devices;
  #send;
  #everyMs;
  #timer: NodeJS.Timeout | undefined;
  #isDue = false;

  constructor({
    devices,
    send,
    everyMs = ANNOUNCE_EVERY_MS,
  }: {
    /** ids, or `EVERY_DEVICE` */
    devices: () => string[];
    send: (payload: string) => void;
    everyMs?: number;
  }) {
    this.#devices = devices;
    this.#send = send;
    this.#everyMs = everyMs;
  }

  /** Announces once for all changes of one iteration of the event loop. */
  change() {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      this.#announce();
    });
  }

  stop() {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #announce() {
    const followed = this.#devices();
    const isAll = followed.includes(EVERY_DEVICE) || followed.length > MAX_DEVICES;
    this.#send(JSON.stringify({ devices: isAll ? [EVERY_DEVICE] : followed }));
    if (followed.length === 0) this.stop();
    else this.#timer ??= setInterval(() => this.#announce(), this.#everyMs).unref();
  }
}
