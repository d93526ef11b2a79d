// Types of the API answers. The OpenAPI document and the `HTTP` section of the documents describe them.

/** One sensor with its newest measured value. */
export interface LatestItem {
  /** UUID of the device */
  device_id: string;
  /** UUID of the sensor */
  sensor_id: string;
  device: string | null;
  name: string | null;
  /** type from the birth message; null: no birth message has named the type yet */
  type: string | null;
  unit: string | null;
  site: string | null;
  /** time between two values in ms, from the birth message; missing or null: not announced */
  interval_ms?: number | null;
  /** time of the newest sample in ISO 8601; null: there is no sample yet */
  ts: string | null;
  value: number | null;
  /** on the stream only: distance of the value from the baseline mean in standard deviations; missing: not judged */
  sigmas?: number;
  /** label for people; only in the answer to a request for the device */
  label?: string | null;
}

/** The baseline of a sensor */
type Baseline = { mean: number; deviation: number };

/** The baseline of the hour that begins at `ts`. */
export type BaselineHour = Baseline & { ts: string };

export type OutlierItem = LatestItem & {
  ts: string;
  value: number;
  sigmas: number;
  baseline: Baseline | null;
  age_ms: number;
};

/** A page of outliers, the most unusual first. The counts cover all sensors. */
export type OutlierPage = {
  items: OutlierItem[];
  sensors: number;
  judged: number;
  outliers: number;
};

/** A group of sensors: those of a site, or of a device. */
export interface OutlierGroup {
  site: string | null;
  /** null: the group is a site */
  device_id: string | null;
  /** device name */
  device: string | null;
  sensors: number;
  /** number of sensors of the group that were judged by a baseline */
  judged: number;
  outliers: number;
  /** the most unusual sensor of the group; null: no sensor of the group was judged */
  worst: OutlierItem | null;
}

/** Groups of sensors, sorted by their most unusual value, the worst first. */
export type OutlierGroupPage = { items: OutlierGroup[]; groups: number };

/** Readiness of the API process that answers. */
export type Readiness = { ready: boolean; checks: Record<string, { ok: boolean; message: string }> };

export interface SensorInfo {
  sensor_id: string;
  name: string | null;
  type: string | null;
  unit: string | null;
  /** label for people */
  label: string | null;
  interval_ms: number | null;
  ts: string | null;
  value: number | null;
}

export type Presence = 'online' | 'offline' | 'not_live';

export interface DeviceInfo {
  device_id: string;
  name: string | null;
  site: string | null;
  /** label for people */
  label: string | null;
  /** announced state; `not_live`: it announced none, and sent nothing for five minutes */
  state: Presence;
  /** time at which the device was last seen, in ISO 8601 */
  last_seen: string | null;
  /** time of the registration in ISO 8601 */
  registered_at: string | null;
  /** clock of the device minus clock of the server in ms, at the start of the session; null: unknown */
  clock_offset_ms?: number | null;
  sensors: SensorInfo[];
}

/** One device of a page. */
export type DeviceItem = Omit<DeviceInfo, 'registered_at' | 'clock_offset_ms' | 'sensors'>;

export type DeviceEvent = { ts: string; kind: 'birth' | 'online' | 'offline'; clock_offset_ms?: number };

/** The periods in which no ingest process received samples, oldest first, in ISO 8601. A period that continues ends now. */
export interface UnwatchedTime {
  /** time from which these periods are recorded; null: nothing is recorded yet */
  since: string | null;
  items: { from: string; to: string }[];
  /** periods of up to this length in ms may be missing */
  left_out_ms: number;
}

/** An annotation: a text about an instant. */
export interface Annotation {
  /** id of the annotation, a timeuuid */
  id: string;
  /** the instant that the annotation is about, in ISO 8601 */
  ts: string;
  /** null: the annotation is about the whole installation */
  device_id: string | null;
  text: string;
}

/** A site, a device or a sensor. Members that do not apply are null. */
export interface SearchResult {
  kind: 'site' | 'device' | 'sensor';
  /** name of the result; its id if it has no name */
  name: string;
  device_id: string | null;
  sensor_id: string | null;
  /** name of the device */
  device: string | null;
  type: string | null;
  site: string | null;
}

/** Counts of the devices and sensors of the fleet. */
export interface FleetInfo {
  devices: Record<Presence, number>;
  sensors: number;
  by_type: Record<string, number>;
  by_site: Record<string, number>;
}

export type Measurement = { ts: string; value: number };

/** The samples of a sensor in bins. Bins without samples are left out. */
export interface Series {
  /** `ts`: start of the bin */
  points: { ts: string; min: number; max: number; avg: number | null; count: number }[];
  /** width of a bin in ms */
  step_ms: number;
  source: 'statistics' | 'samples';
}

/** New values on the event stream. */
export interface Delta {
  items: LatestItem[];
  /** commit time of the oldest value in ISO 8601; null: unknown */
  committed_at: string | null;
  /** time at which the API sent the event, in ISO 8601, by the same clock as `committed_at` */
  sent_at: string;
}

/** Statistics of all processes together, sent once a second. */
export interface Stats {
  samples_per_s: number;
  /** time of a commit in ms; null: no write is committed */
  commit_ms: { p50: number | null; p99: number | null };
  /** requests to the database that are not answered yet */
  in_flight: number;
  /** current limit of requests in flight */
  window: number;
  /** upper limit of `window` */
  window_limit: number;
  /** requests that wait for a free place in the window */
  waiting: number;
  refused_per_s: number;
  /** number of clients of the event stream */
  readers: number;
}

export type StatsThen = Stats & { ts: string };

/** The health that each process reports once a second over the broker, even if the database does not answer. */
export interface ProcessHealth {
  client_id: string;
  role: 'all' | 'ingest' | 'http';
  checks: Record<string, Check>;
  /** time in ms since the database last answered a check; 0: the database answers */
  unanswered_ms: number;
  /** MQTT messages that are not acknowledged yet */
  unsettled: { messages: number; oldest_ms: number; standstill_ms: number };
}

export type StatsEvent = Stats & { health: ProcessHealth[] };

export type Check = { ok: boolean; message: string };

export interface ProcessInfo {
  client_id: string;
  role: 'all' | 'ingest' | 'http';
  version: string;
  /** time of the process start in ISO 8601 */
  since: string;
  /** time of the last heartbeat in ISO 8601 */
  seen: string;
  /** the process sent no heartbeat for 30 s */
  stale: boolean;
  samples_per_s: number;
  commit_ms: { p50: number | null; p99: number | null };
  in_flight: number;
  refused_per_s: number;
  /** number of clients of the event stream of the process */
  readers: number;
  /** current and upper limit of database requests in flight, and the number of waiting requests */
  pressure: { window: number; window_limit: number; waiting: number };
  measurements: Measurements;
  broker: Check | null;
}

/**
 * Numbers of measurements since the process start, by outcome, from messages that are acknowledged. `received` is the sum of
 * the other numbers.
 */
export interface Measurements {
  received: number;
  stored: number;
  merged: number;
  refused: number;
  skipped: number;
}

type DatabaseNode = { address: string; data_center: string | null; up: boolean };

export interface Pipeline {
  processes: ProcessInfo[];
  /** sum of the measurements of all running processes */
  measurements: Measurements;
  database: { nodes: DatabaseNode[] };
  broker: Check | null;
  /** time in ISO 8601; all hours before this time are packed */
  packed_until: string;
  /** null: streaming to Kafka is off */
  stream_out: StreamOut | null;
  /** settings that a new device depends on */
  ingest: { auto_register: boolean; mqtt: Mqtt | null };
}

/** The state of the stream to Kafka. */
export interface StreamOut {
  /** whether Kafka takes records */
  ok: boolean;
  /** age in ms of the oldest record that waits for Kafka */
  lag_ms: number;
  queue_bytes: number;
  queue_limit: number;
  /** time in ISO 8601; Kafka has all records of the hours before this time */
  until: string | null;
}

/** The broker that devices connect to. */
export interface Mqtt {
  /** whether the API process that answers is this broker */
  embedded: boolean;
  /** host of the broker; null: the host of the API */
  host: string | null;
  port: number;
  tls: boolean;
  /** whether the broker requires a user name and a password */
  credentials: boolean;
}

/** Messages on one topic that neither the topic contract nor a mapping covers. */
export interface UnmatchedTopic {
  topic: string;
  count: number;
  /** time of the newest message in ISO 8601 */
  ts: string;
  /** payload size of the newest message in bytes */
  size: number;
  /** the first 2 KiB of the payload of the newest message */
  payload_base64: string;
  /** the similar topic of the contract that the client probably meant */
  suggestion: string | null;
  /** a draft for the mapping file, as YAML */
  mapping: string | null;
}

export interface UnmatchedTopics {
  /** topics, newest first */
  items: UnmatchedTopic[];
  /** time from which the list covers messages, in ISO 8601 */
  since: string;
  /** the broker from which the answering process receives messages */
  source: 'embedded' | 'external' | 'none';
}

/** The account of a device at the broker. */
export interface Credential {
  device_id: string;
  /** MQTT user name */
  account: string;
  /** further devices whose topics the account may use */
  devices: string[];
  /** time at which the account was created, in ISO 8601 */
  issued_at: string;
  /** time at which the secret was last replaced, in ISO 8601 */
  changed_at: string;
}

export type IssuedCredential = Credential & { secret: string };

/**
 * One refused measurement of a message. `index` counts the elements of the message from 0; -1 is the message as a whole. `path`
 * and `rule` name the invalid field and the violated rule. Dead letters of older versions have neither `path` nor `rule`.
 */
export type Refusal = { index: number; code: string; path?: string; rule?: string };

export interface DeadLetter {
  /** id of the dead letter, a timeuuid */
  id: string;
  /** time of the receipt in ISO 8601 */
  ts: string;
  /** device as named in the topic */
  device: string | null;
  topic: string;
  /** number of refused measurements by code */
  codes: Record<string, number>;
  /** the first 100 refusals; null: only counts were kept */
  refused: Refusal[] | null;
  /** media type as the sender set it */
  content_type: string | null;
  /** size of the whole payload in bytes; null: only counts were kept */
  size: number | null;
  /** the first 64 KiB of the payload */
  payload_base64: string | null;
}

export type RefusedHour = { hour: string; dead_letters: number; codes: Record<string, number> };

/** Refusals per hour, newest hour first. */
export type DeadLetterSummary = { items: RefusedHour[]; from: string; to: string };

/** A device with refused measurements. `newest`: time of the newest refusal in ISO 8601 */
export type RefusedDevice = { device_id: string; device: string; refused: number; newest: string };

/** Devices with refused measurements, most refusals first. `dead_letters`: number of all dead letters within the last hour */
export type RefusedDevices = { items: RefusedDevice[]; dead_letters: number; from: string; to: string };

export type ReplayResult = { accepted: number; refused: Refusal[] };

export type Severity = 'info' | 'warning' | 'critical';

export type RefusedLine = { line: number; code: string; rule: string };

export type ImportedRow = {
  line: number;
  device: string;
  sensor: string;
  ts: string;
  /** time in the zone of the import; null: the import has no zone */
  local: string | null;
  value: number;
  type: string | null;
  unit: string | null;
  site: string | null;
};

/** A question that the first lines of a file leave open. `option`: the parameter that answers it */
export type ImportQuestion = { option: string; text: string; choices: string[] };

export type ImportProposal = {
  options: Record<string, string>;
  questions: ImportQuestion[];
  columns: string[];
};

export type Imported = {
  rows: number;
  samples: number;
  merged: number;
  refused: number;
  refused_lines: RefusedLine[];
  merged_lines: Array<{ line: number; same_as: number }>;
  first: ImportedRow[];
};

/** A time range in which a sensor met the condition of a rule. */
export interface Alarm {
  alarm_id: string;
  rule_id: string;
  /** name of the rule that opened the alarm */
  rule: string;
  severity: Severity;
  /** kind of the condition; null: the alarm was stored by a version without this member */
  condition: AlarmCondition['kind'] | null;
  /** the advice of the rule for operators */
  text: string | null;
  device_id: string;
  device: string | null;
  sensor_id: string;
  sensor: string | null;
  site: string | null;
  /** start of the alarm in ISO 8601, like all times of this type */
  started_at: string;
  opened_at: string;
  cleared_at: string | null;
  /** null: the rule is about missing samples, so there is no peak */
  peak: number | null;
  /** unit as the device sends it */
  unit: string | null;
  state: 'open' | 'cleared' | 'withdrawn';
  seen_late: boolean;
  acknowledged_at: string | null;
  acknowledged_by: string | null;
  comment: string | null;
  shelved_until: string | null;
}

export type AlarmMessage = { event: string; alarm: Alarm };

export type AlarmCondition = {
  kind: 'above' | 'below' | 'outside' | 'rate' | 'absent';
  limit?: number | [number, number];
  clear?: number | [number, number];
  for_ms?: number;
  for_samples?: number;
  intervals?: number;
};

export interface WantedAlarmRule {
  name: string;
  scope: { type?: string; site?: string; device?: string; sensor?: string };
  condition: AlarmCondition;
  severity: Severity;
  text?: string;
}

export type AlarmRule = WantedAlarmRule & { rule_id: string; version: number; since: string };

export type PastEpisode = Pick<
  Alarm,
  'device_id' | 'device' | 'sensor_id' | 'sensor' | 'started_at' | 'opened_at' | 'cleared_at' | 'peak'
>;

export interface Backtest {
  from: string;
  to: string;
  /** time of the oldest stored sample in the tested range */
  stored_from: string | null;
  /** time of the newest stored sample in the tested range */
  stored_to: string | null;
  count: number;
  sensors: number;
  partial: boolean;
  /** number of tested sensors without a known interval, for which the rule never fires */
  without_interval: number;
  total_ms: number;
  items: PastEpisode[];
  fewer_alarms: { limit: number; count: number } | null;
  more_alarms: { limit: number; count: number } | null;
}

export type Page<T> = { items: T[]; next: string | null };
