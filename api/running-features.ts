import { MillraceError, messageOf } from '../common/errors.ts';
import type { Identity } from '../schema/ids.ts';
import type { Accounts } from './access/accounts.ts';
import type { Feature, FeatureContext, RunningFeature } from './feature.ts';
import type { Packing } from './history/packing/index.ts';
import type { BoundRoute } from './http/serve.ts';
import type { Stream } from './http/stream/index.ts';
import type { Corrections } from './ingest/corrections.ts';
import type { IngestEvents } from './ingest/events.ts';
import type { Device } from './ingest/registry/cache.ts';
import type { Beat } from './observability/heartbeat.ts';

/** The features of a process. Before `create`, and if the list is empty, each method does nothing. */
export class RunningFeatures {
  #running: RunningFeature[] = [];

  /** @throws the error of the first feature that cannot be created, with its name, after the features before it are stopped */
  async create(features: Feature[], core: FeatureContext) {
    for (const { name, create } of features) {
      try {
        this.#running.push(await create(core));
      } catch (error) {
        await this.stop();
        const message = `The feature ${name} cannot be created: ${messageOf(error)}`;
        throw error instanceof MillraceError
          ? new MillraceError(error.code, message, { cause: error })
          : new Error(message, { cause: error });
      }
    }
  }

  /** A feature without a listener costs nothing on the path of a message, nor in packing. */
  listen({
    events,
    stream,
    accounts,
    packing,
    corrections,
  }: {
    events: IngestEvents;
    stream: Stream;
    accounts: Accounts;
    /** null: this process does not pack */
    packing: Pick<Packing, 'onPacked'> | null;
    corrections: Corrections;
  }) {
    for (const { onCommitted, onRegistered, onPacked, onCorrected, judge, signIn } of this.#running) {
      if (onCommitted) events.on('committed', onCommitted);
      if (onRegistered) events.on('registered', onRegistered);
      if (onPacked) packing?.onPacked(onPacked);
      if (onCorrected) corrections.log.onCorrected(onCorrected);
      if (judge) stream.judgeBy(judge);
      if (signIn) accounts.signInDevicesBy(signIn);
    }
  }

  get routes(): BoundRoute[] {
    return this.#running.flatMap(({ routes }) => routes);
  }

  /** Adds the formats of features to a route of the core. */
  extend = (route: BoundRoute): BoundRoute =>
    this.#running.reduce((extended, { extend }) => extend?.(extended) ?? extended, route);

  /** @returns whether a feature knew the device @throws the error of the first feature that failed */
  async retiring(identity: Identity): Promise<boolean> {
    const known = await Promise.all(this.#running.map(({ onRetiring }) => onRetiring?.(identity)));
    return known.includes(true);
  }

  /**
   * A second retirement repeats the step of each feature, but without the device. So a feature that fails must not keep the others from theirs.
   * @throws the error of the first feature that failed
   */
  async retired(identity: Identity, device: Device | null) {
    const steps = await Promise.allSettled(
      this.#running.map(async ({ onRetired }) => onRetired?.(identity, device)),
    );
    for (const step of steps) if (step.status === 'rejected') throw step.reason;
  }

  beat = (): Partial<Beat> => Object.assign({}, ...this.#running.map(({ beat }) => beat?.()));

  streamedUntil = async (): Promise<Array<number | null>> =>
    (await Promise.all(this.#running.map(({ streamedUntil }) => streamedUntil?.() ?? []))).flat();

  async start() {
    for (const feature of this.#running) await feature.start?.();
  }

  /** A feature that cannot stop does not keep the others from stopping. */
  stop = (): Promise<Array<PromiseSettledResult<void>>> =>
    Promise.allSettled(this.#running.map(async (feature) => feature.stop?.()));
}
