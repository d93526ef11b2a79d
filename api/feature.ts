import type { RequestHandler } from 'express';
import type { Logger } from 'pino';
import type { Flag } from '../common/flags.ts';
import type { PeriodsOf } from '../common/periods.ts';
import type { Config } from '../common/settings/config.ts';
import type { SettingsGroup } from '../common/settings/group.ts';
import type { Identity } from '../schema/ids.ts';
import type { FurtherTopics } from '../schema/topics.ts';
import type { SignInDevice } from './access/accounts.ts';
import type { BoundToken } from './access/http/index.ts';
import type { OnPacked } from './history/packing/index.ts';
import type { Contract } from './http/contract/openapi.ts';
import type { Operation } from './http/contract/operation.ts';
import { bindRoutes } from './http/index.ts';
import type { Route, RouteCore } from './http/route.ts';
import type { BoundRoute } from './http/serve.ts';
import type { Judge, Stream } from './http/stream/index.ts';
import type { OnCorrected } from './ingest/correction-log.ts';
import type { Publish } from './ingest/index.ts';
import type { FindAnnounced } from './ingest/outbox.ts';
import type { Device } from './ingest/registry/cache.ts';
import type { OpenTopics } from './ingest/topics.ts';
import type { Live, OpenTransport } from './live/index.ts';
import type { OpenSource } from './mqtt/index.ts';
import type { Beat } from './observability/heartbeat.ts';
import type { Context } from './observability/index.ts';
import type { Readiness } from './observability/readiness.ts';
import type { UnwatchedTime } from './observability/watched-time.ts';
import type { ClockGuard } from './store/clock-guard.ts';
import type { Store } from './store/index.ts';
import type { OpenStamps } from './store/sending/stamps.ts';

/** The parts of the process that a feature may use. `context`: settings, clock, log and metrics. */
export interface Core extends RouteCore {
  context: Context & {
    version: string;
    /** returns the periods of the feature, in ms, with those that tests replace */
    periodsOf: PeriodsOf;
    /** parts of the OpenAPI and AsyncAPI documents, of the core and of each feature */
    contracts: Contract[];
  };
  publishing: {
    live: Live;
    /** the live stream of this process */
    stream: Stream;
    announced: AnnouncedKinds;
  };
  health: {
    clockGuard: ClockGuard;
    readiness: Readiness;
    /** whether this process receives samples now, and can commit them */
    watches: () => boolean;
    /** periods in which no process received samples */
    unwatchedTime: Pick<UnwatchedTime, 'read'>;
  };
}

/** Finds the committed items that features announce, by the kind of the announcement. */
export type AnnouncedKinds = ReadonlyMap<string, FindAnnounced>;

/** Further formats or parameters of a route of the core, or of another feature. */
export interface Formats<D> {
  describe: (operation: Operation) => Operation;
  /** `json`: the handler of the route, for requests that want no further format */
  handler: (deps: D, json: RequestHandler) => RequestHandler;
}

/** What a feature adds to a process. */
export interface RunningFeature {
  routes: BoundRoute[];
  /** adds formats or parameters to a route of the core or of another feature */
  extend?: (route: BoundRoute) => BoundRoute;
  /** Is called after the commit of a message, and must return at once. */
  onCommitted?: Publish | undefined;
  /** Is called after the commit of a new device, in the process that registered it, and must return at once. */
  onRegistered?: (device: Device) => void;
  /**
   * Is called after the commit of the statistics of packed hours, in the process that packed them. The packer stores its progress after this
   * call. If the call fails, the hours are packed and reported again.
   */
  onPacked?: OnPacked | undefined;
  /** Is called when all readers see a correction, and before it is acknowledged. It is repeated while the database is unavailable. */
  onCorrected?: OnCorrected;
  /** Signs devices in at the embedded broker. One feature at most. */
  signIn?: SignInDevice;
  /** tokens that reach a part of the installation */
  boundTokens?: BoundToken[];
  /** Is called before a device retires, and must succeed. True: the feature knew the device. */
  onRetiring?: (identity: Identity) => Promise<boolean>;
  /** `device`: as it was registered; null: it was not. The retirement waits for this call. If it fails, a second retirement repeats it. */
  onRetired?: (identity: Identity, device: Device | null) => Promise<void> | void;
  /** Judges newest values before readers get them. */
  judge?: Judge;
  /** until when each group of devices is streamed out, in epoch ms; null: it has not begun */
  streamedUntil?: () => Promise<Array<number | null>>;
  /** returns the part of the heartbeat that the feature adds */
  beat?: () => Partial<Beat>;
  /** Is called before the first message. */
  start?: () => Promise<void> | void;
  stop?: () => Promise<void> | void;
}

/** Rights at an external broker. Each begins with the verb of Mosquitto's `acl_file`, such as `read home/+/state`. */
export interface BrokerRights {
  /** of the programs of the installation */
  installation?: string[];
  /** of an account, for each name and id of a device that it sends for */
  device?: (device: string) => string[];
  /** of every account of a device */
  everyDevice?: string[];
}

/**
 * A feature is one folder of `features/`, and one line of `features/index.ts` switches it on. Its contract is a part of the OpenAPI and
 * AsyncAPI documents. `create` is called once in each process, before the process receives messages.
 */
export interface Feature extends Contract {
  name: string;
  settings?: SettingsGroup[];
  /** whether the outbox notes events and dead letters when they are committed, so that the feature can publish them */
  announces?: (config: Config) => boolean;
  /** stamps the commits of the process; at most one feature has it */
  openStamps?: OpenStamps;
  /** topics that it adds to the contract; `topics` has their handler */
  contractTopics?: FurtherTopics;
  /** opens topics that ingest reads in addition to those of the core */
  topics?: OpenTopics;
  /** connects to the broker of the setting `MQTT_URL`; at most one feature has it */
  externalBroker?: { openSource: OpenSource; openTransport: OpenTransport };
  startMode?: StartMode;
  brokerRights?: (config: Pick<Config, 'of'>) => BrokerRights;
  /** finders of its own announced items, by the kind of the announcement */
  announced?: Record<string, (store: Store) => FindAnnounced>;
  /** further formats or parameters of routes of the core or of other features, by the ids of operations */
  formats?: Record<string, Formats<never>>;
  create: (core: Core) => Promise<RunningFeature>;
}

/** The parts of features that ingest needs. */
export interface IngestSlots {
  topics: OpenTopics[];
  contract: FurtherTopics;
  isAnnounced: boolean;
  openStamps: OpenStamps | undefined;
}

/** What `npm start` does with flags of the feature, in place of serving. */
export interface StartMode {
  flags: Record<string, Flag>;
  /** @throws `usage` */
  isWanted: (flags: Record<string, unknown>) => boolean;
  run: (
    options: {
      config: Config;
      version: string;
      logger: Logger;
      /** `reached` settles when this process has to end early */
      end: { reached: Promise<unknown>; fail: (error: Error) => void };
      slots: IngestSlots;
    },
    flags: Record<string, unknown>,
  ) => Promise<void>;
}

type Created<D> = { deps?: D } & Omit<RunningFeature, 'routes' | 'extend'>;

/** `create` returns in `deps` what the routes of the feature need in addition to the core. */
export function defineFeature<D extends object = object>({
  create = () => ({}),
  ...feature
}: Omit<Feature, 'routes' | 'formats' | 'create'> & {
  routes?: Array<Route<Core & D>>;
  formats?: Record<string, Formats<Core & D>>;
  create?: (core: Core) => Created<D> | Promise<Created<D>>;
}): Feature {
  return {
    ...feature,
    async create(core) {
      const { deps: own, ...running } = await create(core);
      const deps = { ...core, ...own } as Core & D;
      return {
        ...running,
        routes: bindRoutes(feature.routes ?? [], deps),
        extend(route) {
          const formats = feature.formats?.[route.operation.id];
          if (!formats) return route;
          const { describe, handler } = formats;
          return { ...route, operation: describe(route.operation), handler: handler(deps, route.handler) };
        },
      };
    },
  };
}
