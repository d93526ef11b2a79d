import { MillraceError, messageOf } from '../common/errors.ts';
import { LogThrottle } from '../common/log-throttle.ts';
import type { Identity } from '../schema/ids.ts';
import type { Accounts } from './access/accounts.ts';
import type { Access } from './access/http/index.ts';
import { withTimeLimit } from './background/index.ts';
import type { Core, Feature, RunningFeature } from './feature.ts';
import type { Packing } from './history/packing/index.ts';
import type { BoundRoute } from './http/serve.ts';
import type { Stream } from './http/stream/index.ts';
import type { Corrections } from './ingest/corrections.ts';
import type { IngestEvents } from './ingest/events.ts';
import type { Device } from './ingest/registry/cache.ts';
import type { Beat } from './observability/heartbeat.ts';
import type { Context } from './observability/index.ts';

/** In ms. Container engines kill a process 10 s after the signal. */
const STOP_WITHIN_MS = 8000;

/** The features of a process. Before `create`, and if the list is empty, each method does nothing. */
export class RunningFeatures {
  #running: Array<{ name: string; feature: RunningFeature }> = [];
  #logger;
  #failures;
  #throttle = new LogThrottle();
  #stopWithinMs;

  constructor({ logger, metrics }: Pick<Context, 'logger' | 'metrics'>, stopWithinMs = STOP_WITHIN_MS) {
    this.#logger = logger;
    this.#stopWithinMs = stopWithinMs;
    this.#failures = metrics.declare.counter(
      'iot_feature_failures_total',
      'Calls to features that failed, such as after a commit; the message was accepted nevertheless',
      'feature',
    );
  }

  /** @throws the error of the first feature that cannot be created, with its name; `stop` stops the features before it */
  async create(features: Feature[], core: Core) {
    for (const { name, create } of features) {
      try {
        this.#running.push({ name, feature: await create(core) });
      } catch (error) {
        throw named(error, `The feature ${name} cannot be created`);
      }
      this.#failures.inc({ feature: name }, 0);
    }
    this.#checkSole('judge');
    this.#checkSole('signIn');
  }

  /** A feature without a listener costs nothing on the path of a message, nor in packing. */
  listen({
    events,
    stream,
    accounts,
    access,
    packing,
    corrections,
  }: {
    events: IngestEvents;
    stream: Stream;
    accounts: Accounts;
    access: Pick<Access, 'bind'>;
    /** null: this process does not pack */
    packing: Pick<Packing, 'onPacked'> | null;
    corrections: Corrections;
  }) {
    for (const { name, feature } of this.#running) {
      const { onCommitted, onRegistered, onPacked, onCorrected, judge, signIn, boundTokens } = feature;
      if (onCommitted) events.on('committed', this.#guarded(name, onCommitted));
      if (onRegistered) events.on('registered', this.#guarded(name, onRegistered));
      if (onPacked) packing?.onPacked(onPacked);
      if (onCorrected)
        corrections.log.onCorrected(async (correction) => {
          try {
            await onCorrected(correction);
          } catch (error) {
            // The log calls again when the database is back. A defect must not fail a correction that all readers see.
            if (error instanceof MillraceError && error.code === 'unavailable') throw error;
            this.#report(name, error);
          }
        });
      if (judge)
        stream.judgeBy({
          judge: this.#guarded(name, (key, item) => judge.judge(key, item)),
          onChange: (listener) => judge.onChange(listener),
        });
      if (signIn) accounts.signInDevicesBy(signIn);
      if (boundTokens) access.bind(boundTokens);
    }
  }

  get routes(): BoundRoute[] {
    return this.#features.flatMap(({ routes }) => routes);
  }

  /** Adds the formats and parameters that features bring to a route. @throws with the name of the feature that failed */
  extend = (route: BoundRoute): BoundRoute =>
    this.#running.reduce((extended, { name, feature }) => {
      try {
        return feature.extend?.(extended) ?? extended;
      } catch (error) {
        throw named(error, `The feature ${name} cannot extend ${route.method} ${route.path}`);
      }
    }, route);

  /** @returns whether a feature knew the device @throws the error of the first feature that failed */
  async retiring(identity: Identity): Promise<boolean> {
    const known = await Promise.all(this.#features.map(({ onRetiring }) => onRetiring?.(identity)));
    return known.includes(true);
  }

  /**
   * A second retirement repeats the step of each feature, but without the device. So a feature that fails must not keep the others from theirs.
   * @throws the error of the first feature that failed
   */
  async retired(identity: Identity, device: Device | null) {
    const steps = await Promise.allSettled(
      this.#features.map(async ({ onRetired }) => onRetired?.(identity, device)),
    );
    for (const step of steps) if (step.status === 'rejected') throw step.reason;
  }

  beat = (): Partial<Beat> => {
    const parts = this.#running.map(({ name, feature }) => {
      try {
        return feature.beat?.();
      } catch (error) {
        this.#report(name, error);
        return {};
      }
    });
    return Object.assign({}, ...parts);
  };

  streamedUntil = async (): Promise<Array<number | null>> =>
    (await Promise.all(this.#features.map(({ streamedUntil }) => streamedUntil?.() ?? []))).flat();

  /** @throws the error of the first feature that cannot start, with its name */
  async start() {
    for (const { name, feature } of this.#running) {
      try {
        await feature.start?.();
      } catch (error) {
        throw named(error, `The feature ${name} cannot start`);
      }
    }
  }

  /** A feature that cannot stop does not keep the others from stopping. Each error has the name of its feature. */
  stop = (): Promise<Array<PromiseSettledResult<void>>> =>
    Promise.allSettled(
      this.#running.map(async ({ name, feature }) => {
        try {
          let isStopped = false;
          const stopping = Promise.resolve(feature.stop?.()).then(() => {
            isStopped = true;
          });
          await withTimeLimit(stopping, this.#stopWithinMs);
          if (!isStopped) throw new Error(`it takes longer than ${this.#stopWithinMs} ms`);
        } catch (error) {
          this.#logger.error({ err: error, feature: name }, 'a feature did not stop');
          throw named(error, `The feature ${name} cannot stop`);
        }
      }),
    );

  get #features(): RunningFeature[] {
    return this.#running.map(({ feature }) => feature);
  }

  #checkSole(part: 'judge' | 'signIn') {
    const names = this.#running.filter(({ feature }) => feature[part]).map(({ name }) => name);
    if (names.length > 1) throw new Error(`Only one feature may have ${part}: ${names.join(', ')}`);
  }

  /** A message is accepted even if a feature fails. A listener that is async against its type must not end the process. */
  #guarded<A extends unknown[]>(name: string, listener: (...args: A) => unknown): (...args: A) => void {
    const failed = (error: unknown) => this.#report(name, error);
    return (...args) => {
      try {
        const result = listener(...args);
        if (result instanceof Promise) result.catch(failed);
      } catch (error) {
        failed(error);
      }
    };
  }

  #report(feature: string, error: unknown) {
    this.#failures.inc({ feature });
    const count = this.#throttle.count(feature);
    if (count > 0) this.#logger.error({ err: error, feature, count }, 'a feature failed');
  }
}

function named(error: unknown, text: string): Error {
  const message = `${text}: ${messageOf(error)}`;
  return error instanceof MillraceError
    ? new MillraceError(error.code, message, { cause: error })
    : new Error(message, { cause: error });
}
