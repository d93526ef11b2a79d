import type { ClockGuard } from '../store/clock-guard.ts';
import type { Health } from '../store/index.ts';
import type { ProcessStore } from '../store/processes.ts';
import type { WatchedTimeStore } from '../store/watched-time.ts';
import { type Beat, Heartbeat, ProcessWatch } from './heartbeat.ts';
import type { Context } from './index.ts';
import { ProcessHealth, type Unsettled } from './process-health.ts';
import { type Check, Readiness } from './readiness.ts';
import { UnwatchedTime, WatchedTime } from './watched-time.ts';

type Checks = Record<string, () => Check>;

/** What a process reports of itself: readiness, health, heartbeat and watched time. It also watches the other processes. */
export class ProcessReports {
  readonly readiness: Readiness;
  readonly health: ProcessHealth;
  readonly unwatchedTime: UnwatchedTime;
  readonly #processes: ProcessWatch;
  readonly #heartbeat: Heartbeat;
  readonly #clockGuard;
  readonly #broker;

  constructor(
    context: Context,
    deps: {
      store: { health: Health; processes: ProcessStore; watchedTime: WatchedTimeStore };
      clockGuard: ClockGuard;
      /** null: this process receives no messages from a broker */
      source: { checks: Checks & { broker: () => Check } } | null;
      /** checks that do not affect readiness */
      notes: Checks;
      progress: Unsettled;
      read: () => Omit<Beat, 'broker' | 'shares'>;
      version: string;
      everyMs: number;
      /** only for tests that set the clock */
      clockDifference?: Health['clockDifference'] | undefined;
    },
  ) {
    const { store, clockGuard, source, notes, progress, read, version, everyMs, clockDifference } = deps;
    const { mqtt, role } = context.config;
    const isExternal = mqtt.url !== undefined;
    const checks = { ...source?.checks };
    this.#clockGuard = clockGuard;
    this.#broker = source?.checks.broker ?? null;
    this.readiness = new Readiness({ health: store.health, checks, notes });
    const readiness = clockDifference
      ? new Readiness({ health: { clockDifference }, checks, notes })
      : this.readiness;
    this.health = new ProcessHealth({ role, readiness, progress });
    this.unwatchedTime = new UnwatchedTime(context, { store: store.watchedTime, everyMs });
    this.#processes = new ProcessWatch(context, { store: store.processes, shares: isExternal, everyMs });
    this.#heartbeat = new Heartbeat(context, {
      store: store.processes,
      watchedTime: source && new WatchedTime({ store: store.watchedTime, watches: this.watches, everyMs }),
      process: { role, version },
      read: () => ({ ...read(), broker: this.#broker?.() ?? null, shares: source !== null && isExternal }),
      everyMs,
    });
  }

  /** Whether this process receives samples now, and can commit them. */
  watches = (): boolean => Boolean(this.#broker?.().ok) && this.#clockGuard.isTrusted;

  /** After the start of `health`. Resolves after the first heartbeat. */
  async start(clientId: string) {
    await this.#heartbeat.start(clientId);
    await this.#processes.start();
  }

  stop(): Promise<void> {
    this.health.stop();
    this.#processes.stop();
    return this.#heartbeat.stop();
  }
}
