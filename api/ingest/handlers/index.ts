/** The pipeline finds the handler of a message by the kind of its topic. */

import type { Identity } from '../../../schema/ids.ts';
import type { Topic } from '../../../schema/topics.ts';
import type { Context } from '../../observability/index.ts';
import type { Store } from '../../store/index.ts';
import type { IngestResult } from '../ingest-result.ts';
import type { Message, Outcome } from '../pipeline.ts';
import type { Births } from '../registry/births.ts';
import type { Registry } from '../registry/index.ts';
import type { Events, Statuses } from '../registry/status.ts';
import type { HandlerDeps, TopicReader } from '../topics.ts';
import { createBirthHandler } from './birth.ts';
import { createMeasurementHandler } from './measurements.ts';
import { createStatusHandler } from './status.ts';

export { MeasurementStore } from './measurement-store.ts';

/**
 * A message that was refused earlier and is stored now. Relative times count from the first receipt, the limits of age
 * and clock skew from now.
 */
export interface Kept {
  payload: Buffer;
  /** content type of MQTT 5 */
  contentType?: string;
  /** first receipt, epoch ms */
  receivedAt: number;
  /** epoch ms */
  now: number;
  /** Only elements that were refused at the first attempt are stored now. null: all are stored. */
  isRefused: ((index: number) => boolean) | null;
}

/** `handle` and `replay` throw an error that refuses the whole message. `I` is null if the handler finds the device itself. */
export interface Handler<R extends Topic = Topic, I extends Identity | null = Identity | null> {
  /** Settles when the good elements are committed, and the refused ones are in a dead letter. */
  handle(message: Message, route: R, identity: I): Promise<Outcome>;
  /** A birth or a status counts as one accepted element. A second replay writes the same rows. */
  replay(kept: Kept, route: R, identity: I): Promise<IngestResult>;
  /** The payload may name the device, so the handler finds the device, asks `permits`, and queues the message. */
  findsDevice?: boolean;
  /** the message was refused as a whole */
  refused?(route: R): void;
}

/** by the kind of their routes */
export type Handlers = Map<string, Handler>;

export type Devices = {
  registry: Registry;
  births: Births;
  events: Events;
  statuses: Statuses;
  /** Only messages without measurements need this. `MeasurementStore` writes the time for the others. */
  noteLastSeen: (message: Message, identity: Identity) => Promise<void>;
};

export function createNoteLastSeen(
  registry: Registry,
  write: Store['write']['lastSeen'],
): Devices['noteLastSeen'] {
  return async ({ retained, receivedAt }, identity) => {
    const device = registry.cache.peek(identity.id);
    if (device && !retained) await write(device, receivedAt);
  };
}

/** `handlers`: of the topics of the contract and of features */
export function createHandlers(
  { metrics }: Pick<Context, 'metrics'>,
  deps: HandlerDeps,
  readers: TopicReader[],
) {
  const measurements = createMeasurementHandler(deps);
  const handlers: Handlers = new Map(readers.map(({ kind, handler }) => [kind, handler]));
  handlers.set('measurements', measurements);
  handlers.set('birth', createBirthHandler(deps, { handlers, metrics }));
  handlers.set('status', createStatusHandler(deps));
  return { measurements, handlers };
}
