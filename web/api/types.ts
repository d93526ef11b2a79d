// The names of the API's answers in the dashboard. `npm run docs:reference` writes the schemas that are named here.
import type * as schemas from './schemas.ts';

/** A sensor with its newest value. `label`: from requests of the device only. `interval_ms`: null or missing if not announced */
export type LatestItem = Omit<schemas.JudgedItem, 'interval_ms'> & {
  interval_ms?: number | null;
  label?: string | null;
};
export type BaselineHour = schemas.SensorBaseline['hours'][number];
export type OutlierItem = schemas.Outlier;
export type OutlierPage = schemas.Outliers;
export type OutlierGroupPage = schemas.OutlierGroups;
export type OutlierGroup = OutlierGroupPage['items'][number];
export type Readiness = schemas.Readiness;
export type Check = Readiness['checks'][string];
export type SensorInfo = schemas.Sensor;
export type DeviceInfo = schemas.DeviceWithSensors;
export type DeviceItem = schemas.Device;
export type Presence = DeviceItem['state'];
export type DeviceEvent = schemas.Event;
export type UnwatchedTime = schemas.UnwatchedTime;
export type Annotation = schemas.Annotation;
export type SearchResults = schemas.SearchResults;
export type SearchResult = SearchResults['items'][number];
export type FleetInfo = schemas.Fleet;
export type Measurement = schemas.Measurement;
export type Series = schemas.Series;
export type Delta = schemas.Delta;
export type Stats = schemas.Stats;
export type StatsThen = schemas.RecentStats['items'][number];
export type StatsEvent = schemas.StatsEvent;
export type ProcessHealth = StatsEvent['health'][number];
export type Pipeline = schemas.Pipeline;
export type ProcessInfo = Pipeline['processes'][number];
export type Measurements = Pipeline['measurements'];
export type StreamOut = NonNullable<Pipeline['stream_out']>;
export type Mqtt = NonNullable<Pipeline['ingest']['mqtt']>;
export type UnmatchedTopics = schemas.UnmatchedTopics;
export type UnmatchedTopic = UnmatchedTopics['items'][number];
export type Credential = schemas.Credential;
export type IssuedCredential = schemas.IssuedCredential;
export type Refusal = schemas.Refusal;
export type DeadLetter = schemas.DeadLetter;
export type DeadLetterSummary = schemas.DeadLetterSummary;
export type RefusedHour = DeadLetterSummary['items'][number];
export type RefusedDevices = schemas.RefusedDevices;
export type RefusedDevice = RefusedDevices['items'][number];
/** What a replay accepted, and each refused measurement. */
export type ReplayResult = { accepted: number; refused: Refusal[] };
export type Imported = schemas.Imported;
export type RefusedLine = Imported['refused_lines'][number];
export type ImportedRow = Imported['first'][number];
export type ImportProposal = schemas.ImportProposal;
export type ImportQuestion = ImportProposal['questions'][number];
export type Alarm = schemas.Alarm;
export type Severity = Alarm['severity'];
export type AlarmMessage = schemas.AlarmMessage;
export type AlarmRule = schemas.AlarmRule;
export type AlarmCondition = AlarmRule['condition'];
export type WantedAlarmRule = Omit<AlarmRule, 'rule_id' | 'version' | 'since'>;
export type Backtest = schemas.Backtest;
export type PastEpisode = Backtest['items'][number];

export type Page<T> = { items: T[]; next: string | null };
