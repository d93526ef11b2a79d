import { MillraceError } from '../../common/errors.ts';
import type { Config } from '../../common/settings/config.ts';
import type { SettingsGroup } from '../../common/settings/group.ts';
import { SETTINGS, type Setting } from '../../common/settings/schema.ts';
import { topicContract } from '../../schema/topics.ts';
import type { AnnouncedKinds, Feature } from '../feature.ts';
import { checkConflicts } from '../feature-conflicts.ts';
import type { Contract } from '../http/contract/openapi.ts';
import { CORE_CONTRACT } from '../http/index.ts';
import type { Route } from '../http/route.ts';
import type { Store } from '../store/index.ts';
import { alarmsFeature } from './alarms/index.ts';
import { annotationsFeature } from './annotations/index.ts';
import { assetsFeature } from './assets/index.ts';
import { asyncApiFeature } from './asyncapi/index.ts';
import { baselinesFeature } from './baselines/index.ts';
import { changesFeature } from './changes/index.ts';
import { correctionsFeature } from './corrections/index.ts';
import { credentialsFeature } from './credentials/index.ts';
import { deadLettersFeature } from './dead-letters/index.ts';
import { exportFeature } from './export/index.ts';
import { externalBrokerFeature } from './external-broker/index.ts';
import { firstSightFeature } from './first-sight/index.ts';
import { homeAssistantFeature } from './home-assistant/index.ts';
import { importFeature } from './import/index.ts';
import { kafkaFeature } from './kafka/index.ts';
import { lineProtocolFeature } from './line-protocol/index.ts';
import { mappingsFeature } from './mappings/index.ts';
import { parquetFeature } from './parquet/index.ts';
import { prometheusFeature } from './prometheus/index.ts';
import { queryFeature } from './query/index.ts';
import { rolesFeature } from './roles/index.ts';
import { searchFeature } from './search/index.ts';
import { sparkplugFeature } from './sparkplug/index.ts';

/** A line switches its feature on. */
export const FEATURES: Feature[] = [
  alarmsFeature,
  annotationsFeature,
  assetsFeature,
  asyncApiFeature,
  baselinesFeature,
  changesFeature,
  correctionsFeature,
  credentialsFeature,
  deadLettersFeature,
  exportFeature,
  externalBrokerFeature,
  firstSightFeature,
  homeAssistantFeature,
  importFeature,
  kafkaFeature,
  lineProtocolFeature,
  mappingsFeature,
  parquetFeature,
  prometheusFeature,
  queryFeature,
  rolesFeature,
  searchFeature,
  sparkplugFeature,
];

checkConflicts(FEATURES);

/** Adds what features bring to the routes of others. */
const extended = (routes: Route[] = []): Route[] =>
  routes.map((route) => ({
    ...route,
    operation: FEATURES.reduce(
      (operation, { formats }) => formats?.[operation.id]?.describe(operation) ?? operation,
      route.operation,
    ),
  }));

export const CONTRACTS: Contract[] = [CORE_CONTRACT, ...FEATURES].map((contract) => ({
  ...contract,
  routes: extended(contract.routes),
}));

export const ROUTES: Route[] = CONTRACTS.flatMap(({ routes = [] }) => routes);

export const SETTINGS_GROUPS: SettingsGroup[] = FEATURES.flatMap(({ settings = [] }) => settings);

export const ALL_SETTINGS: Record<string, Setting> = Object.assign(
  {},
  SETTINGS,
  ...SETTINGS_GROUPS.map(({ settings }) => settings),
);

/** The topics of the core and of features. */
export const contractTopics = () =>
  topicContract(FEATURES.flatMap(({ contractTopics }) => contractTopics ?? []));

/**
 * The parts of features that the database and ingest need. A command that stores messages needs them too, because what it commits must also
 * reach the features.
 */
export const ingestSlots = (config: Config) => ({
  openStamps: FEATURES.find(({ openStamps }) => openStamps)?.openStamps,
  topics: FEATURES.flatMap(({ topics }) => topics ?? []),
  contract: contractTopics(),
  isAnnounced: FEATURES.some(({ announces }) => announces?.(config)),
});

export const announcedKinds = (store: Store): AnnouncedKinds =>
  new Map(
    FEATURES.flatMap(({ announced = {} }) => Object.entries(announced)).map(([kind, create]) => [
      kind,
      create(store),
    ]),
  );

/** @throws `bad_settings` if `MQTT_URL` is set, and no feature connects to an external broker */
export function externalBrokerOf({ mqtt }: Config): Feature['externalBroker'] {
  if (mqtt.url === undefined) return undefined;
  const [found] = FEATURES.flatMap(({ externalBroker }) => externalBroker ?? []);
  if (found) return found;
  throw new MillraceError(
    'bad_settings',
    'MQTT_URL is set, but no feature connects to an external broker. Unset it, or list the feature external-broker.',
  );
}
