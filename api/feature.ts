import type { Periods } from '../common/periods.ts';
import type { Config } from '../common/settings/config.ts';
import type { SettingsGroup } from '../common/settings/group.ts';
import type { Identity } from '../schema/ids.ts';
import type { Contract } from './http/contract/openapi.ts';
import { bindRoutes } from './http/index.ts';
import type { Route, RouteContext } from './http/route.ts';
import type { BoundRoute } from './http/serve.ts';
import type { Judge, Stream } from './http/stream/index.ts';
import type { Publish } from './ingest/index.ts';
import type { FindAnnounced } from './ingest/outbox.ts';
import type { Device } from './ingest/registry/cache.ts';
import type { OpenTopics } from './ingest/topics.ts';
import type { Beat } from './observability/heartbeat.ts';
import type { Readiness } from './observability/readiness.ts';
import type { UnwatchedTime } from './observability/watched-time.ts';
import type { ClockGuard } from './store/clock-guard.ts';
import type { Store } from './store/index.ts';

/** The parts of the process that a feature may use. */
export interface FeatureContext extends RouteContext {
  clockGuard: ClockGuard;
  /** the live stream of this process */
  stream: Stream;
  readiness: Readiness;
  watch: {
    /** whether this process receives samples now, and can commit them */
    watches: () => boolean;
    /** periods in which no process received samples */
    unwatchedTime: Pick<UnwatchedTime, 'read'>;
  };
  announced: AnnouncedKinds;
  version: string;
  periods: Periods;
}

/** Finds the committed items that features announce, by the kind of the announcement. */
export type AnnouncedKinds = ReadonlyMap<string, FindAnnounced>;

/** What a feature brings to a process. */
export interface RunningFeature {
  routes: BoundRoute[];
  /** after the commit of a message; it must return at once */
  onCommitted?: Publish | undefined;
  /** after the commit of a new device, in the process that registered it; it must return at once */
  onRegistered?: (device: Device) => void;
  /** `device`: as it was registered. A retirement ends after it, and is repeated if it fails. */
  onRetired?: (identity: Identity, device: Device | null) => Promise<void> | void;
  /** judges newest values before readers get them */
  judge?: Judge;
  /** for the heartbeat of this process */
  beat?: () => Partial<Beat>;
  /** before the first message */
  start?: () => Promise<void> | void;
  stop?: () => Promise<void> | void;
}

/** Rights at an external broker, each with its verb as in Mosquitto's `acl_file`, such as `read home/+/state`. */
export interface BrokerRights {
  /** of the programs of the installation */
  installation?: string[];
  /** of an account, for each name and id of a device that it sends for */
  device?: (device: string) => string[];
  /** of every account of a device */
  everyDevice?: string[];
}

/**
 * A feature lies in one folder of `features/`, and one line of `features/index.ts` switches it on. The documents describe it by its
 * contract. `create` makes it for a process, before the process receives messages.
 */
export interface Feature extends Contract {
  name: string;
  settings?: SettingsGroup[];
  /** whether events and dead letters are noted in the outbox when they are committed */
  announces?: (config: Config) => boolean;
  /** topics that ingest reads in addition to those of the contract */
  topics?: OpenTopics;
  brokerRights?: (config: Pick<Config, 'of'>) => BrokerRights;
  /** kinds of its announcements in the outbox */
  announced?: Record<string, (store: Store) => FindAnnounced>;
  create: (core: FeatureContext) => Promise<RunningFeature>;
}

type Created<D> = { deps?: D } & Omit<RunningFeature, 'routes'>;

/** `create` returns what the routes of the feature need besides the core. */
export function defineFeature<D extends object = object>({
  create = () => ({}),
  ...feature
}: Omit<Feature, 'routes' | 'create'> & {
  routes?: Array<Route<FeatureContext & D>>;
  create?: (core: FeatureContext) => Created<D> | Promise<Created<D>>;
}): Feature {
  return {
    ...feature,
    async create(core) {
      const { deps, ...running } = await create(core);
      return {
        ...running,
        routes: bindRoutes(feature.routes ?? [], { ...core, ...deps } as FeatureContext & D),
      };
    },
  };
}
