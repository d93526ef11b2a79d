// The answers of the API. OpenAPI and the `HTTP` section of the documents describe them.

/** One sensor with its newest measured value. */
export interface LatestItem {
  /** UUID */
  device_id: string;
  /** UUID */
  sensor_id: string;
  /** name */
  device: string | null;
  name: string | null;
  /** null until a birth has it */
  type: string | null;
  unit: string | null;
  site: string | null;
  /** between two values, from the device's birth; missing or null: not announced */
  interval_ms?: number | null;
  /** ISO 8601, null before the first sample */
  ts: string | null;
  value: number | null;
  /** on the stream only: how far the value is from what is usual, in deviations; missing: not judged */
  sigmas?: number;
  /** judged by a provisional baseline of its last hours, because none is learned yet */
  provisional?: true;
  /** a text for people; on the page of its device only */
  label?: string | null;
}

/** The baseline of a sensor; `provisional`: from its last hours. */
type Baseline = { mean: number; deviation: number; provisional: boolean };

/** The baseline of the hour that begins at `ts`. */
export type BaselineHour = Baseline & { ts: string };

export type OutlierItem = LatestItem & {
  ts: string;
  value: number;
  sigmas: number;
  baseline: Baseline | null;
  age_ms: number;
};

/** Outliers, the most unusual first; the counts cover all sensors. */
export type OutlierPage = {
  items: OutlierItem[];
  sensors: number;
  judged: number;
  provisional: number;
  outliers: number;
};

/** A site or a device. */
export interface OutlierGroup {
  site: string | null;
  /** null: it is a site */
  device_id: string | null;
  /** name */
  device: string | null;
  sensors: number;
  /** of these */
  judged: number;
  /** of these */
  outliers: number;
  /** null: none was judged */
  worst: OutlierItem | null;
}

/** Groups, the one with the most unusual value first. */
export type OutlierGroupPage = { items: OutlierGroup[]; groups: number };

/** Of the process that answers. */
export type Readiness = { ready: boolean; checks: Record<string, { ok: boolean; message: string }> };

export interface SensorInfo {
  sensor_id: string;
  name: string | null;
  type: string | null;
  unit: string | null;
  /** a text for people */
  label: string | null;
  interval_ms: number | null;
  ts: string | null;
  value: number | null;
}

export interface DeviceInfo {
  device_id: string;
  name: string | null;
  site: string | null;
  /** a text for people */
  label: string | null;
  online: boolean;
  /** ISO 8601 */
  last_seen: string | null;
  /** ISO 8601 */
  registered_at: string | null;
  /** its clock minus that of the server, when its session began; null: no difference is known */
  clock_offset_ms?: number | null;
  sensors: SensorInfo[];
}

/** One device of a page. */
export type DeviceItem = Omit<DeviceInfo, 'registered_at' | 'clock_offset_ms' | 'sensors'>;

export type DeviceEvent = { ts: string; kind: 'birth' | 'online' | 'offline'; clock_offset_ms?: number };

/** The time in which no process watched, oldest first, in ISO 8601; an item that goes on ends now. */
export interface UnwatchedTime {
  /** when the record begins; null: not yet */
  since: string | null;
  items: { from: string; to: string }[];
  /** items up to this length may be missing */
  left_out_ms: number;
}

/** An annotation: a text about an instant. */
export interface Annotation {
  /** timeuuid */
  id: string;
  /** ISO 8601 */
  ts: string;
  /** null: of the whole installation */
  device_id: string | null;
  text: string;
}

/** A site, a device or a sensor; what does not apply is null. */
export interface SearchResult {
  kind: 'site' | 'device' | 'sensor';
  /** its id if it has no name */
  name: string;
  device_id: string | null;
  sensor_id: string | null;
  /** name of the device */
  device: string | null;
  type: string | null;
  site: string | null;
}

/** Counts of all. */
export interface FleetInfo {
  devices: { online: number; offline: number };
  sensors: number;
  by_type: Record<string, number>;
  by_site: Record<string, number>;
}

export type Measurement = { ts: string; value: number };

/** The shape of a signal, in bins that have samples. */
export interface Series {
  /** `ts`: of the bin's beginning */
  points: { ts: string; min: number; max: number; avg: number | null; count: number }[];
  /** width of a bin */
  step_ms: number;
  source: 'statistics' | 'samples';
}

/** Values that are new on the stream. */
export interface Delta {
  items: LatestItem[];
  /** ISO 8601, when the oldest of them was committed; null where that is not known */
  committed_at: string | null;
  /** ISO 8601, by the same clock */
  sent_at: string;
}

/** Statistics of all processes together, sent once a second. */
export interface Stats {
  samples_per_s: number;
  /** null while nothing is committed */
  commit_ms: { p50: number | null; p99: number | null };
  /** requests to the database */
  in_flight: number;
  /** requests that may be in flight now */
  window: number;
  /** and at most */
  window_limit: number;
  /** requests that wait for a free slot */
  waiting: number;
  refused_per_s: number;
  /** that follow the stream */
  readers: number;
}

export type StatsThen = Stats & { ts: string };

/** The health that a process reports once a second, without the database. */
export interface ProcessHealth {
  client_id: string;
  role: 'all' | 'ingest' | 'http';
  checks: Record<string, Check>;
  /** time since the database last answered a check; 0: it answers */
  unanswered_ms: number;
  /** messages that are not acknowledged */
  unsettled: { messages: number; oldest_ms: number; standstill_ms: number };
}

export type StatsEvent = Stats & { health: ProcessHealth[] };

export type Check = { ok: boolean; message: string };

export interface ProcessInfo {
  client_id: string;
  role: 'all' | 'ingest' | 'http';
  version: string;
  /** ISO 8601 */
  since: string;
  /** ISO 8601 */
  seen: string;
  /** it sent no heartbeat for 30 s */
  stale: boolean;
  samples_per_s: number;
  commit_ms: { p50: number | null; p99: number | null };
  in_flight: number;
  refused_per_s: number;
  /** that follow its stream */
  readers: number;
  /** requests that may be in flight now, and at most, and that wait for a place */
  pressure: { window: number; window_limit: number; waiting: number };
  measurements: Measurements;
  broker: Check | null;
}

/** Measurements of settled messages since the start, by outcome: `received` is the sum of the others. */
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
  /** of all processes that run */
  measurements: Measurements;
  database: { nodes: DatabaseNode[] };
  broker: Check | null;
  /** ISO 8601 */
  packed_until: string;
  /** null: nothing is streamed out */
  stream_out: StreamOut | null;
  /** what a new device needs */
  ingest: { auto_register: boolean; mqtt: Mqtt | null };
}

/** The state of streaming out to Kafka. */
export interface StreamOut {
  /** whether Kafka takes records */
  ok: boolean;
  /** age of the oldest record that waits for Kafka */
  lag_ms: number;
  queue_bytes: number;
  queue_limit: number;
  /** ISO 8601: all hours before it are complete in Kafka */
  until: string | null;
}

/** The broker that devices connect to. */
export interface Mqtt {
  /** the process that answers is this broker */
  embedded: boolean;
  /** null: the host of the API */
  host: string | null;
  port: number;
  tls: boolean;
  /** a client needs a user name and a password */
  credentials: boolean;
}

/** Messages on one topic outside the contract. */
export interface UnmatchedTopic {
  topic: string;
  count: number;
  /** ISO 8601, of the newest message */
  ts: string;
  /** bytes of its payload */
  size: number;
  /** the first 2 KiB of it */
  payload_base64: string;
  /** the topic of the contract that was probably meant */
  suggestion: string | null;
  /** a draft for the file of mappings, as YAML */
  mapping: string | null;
}

export interface UnmatchedTopics {
  /** the newest first */
  items: UnmatchedTopic[];
  /** ISO 8601 */
  since: string;
  /** from which the process that answers receives messages */
  source: 'embedded' | 'external' | 'none';
}

/** The account of a device. */
export interface Credential {
  device_id: string;
  /** user name at the broker */
  account: string;
  /** further devices whose topics it may use */
  devices: string[];
  /** ISO 8601 */
  issued_at: string;
  /** ISO 8601, of the last new secret */
  changed_at: string;
}

export type IssuedCredential = Credential & { secret: string };

/**
 * `index` counts the message's elements from 0; -1 is the message as a whole.
 * `path` and `rule` name the wrong field and the broken rule; older dead letters have neither
 */
export type Refusal = { index: number; code: string; path?: string; rule?: string };

export interface DeadLetter {
  /** timeuuid */
  id: string;
  /** ISO 8601 */
  ts: string;
  /** as the topic has it */
  device: string | null;
  topic: string;
  /** refused measurements by code */
  codes: Record<string, number>;
  /** the first 100; null where only counts were kept */
  refused: Refusal[] | null;
  /** as the sender wrote it */
  content_type: string | null;
  /** bytes of the whole payload; null where only counts were kept */
  size: number | null;
  /** the first 64 KiB */
  payload_base64: string | null;
}

export type RefusedHour = { hour: string; dead_letters: number; codes: Record<string, number> };

/** Hours newest first. */
export type DeadLetterSummary = { items: RefusedHour[]; from: string; to: string };

/** `newest`: ISO 8601 */
export type RefusedDevice = { device_id: string; device: string; refused: number; newest: string };

/** Most refusals first. */
export type RefusedDevices = { items: RefusedDevice[]; from: string; to: string };

export type ReplayResult = { accepted: number; refused: Refusal[] };

export type Severity = 'info' | 'warning' | 'critical';

export type RefusedLine = { line: number; code: string; rule: string };

export type ImportedRow = {
  line: number;
  device: string;
  sensor: string;
  ts: string;
  value: number;
  type: string | null;
  unit: string | null;
  site: string | null;
};

export type Imported = {
  rows: number;
  samples: number;
  refused: number;
  refused_lines: RefusedLine[];
  first: ImportedRow[];
};

/** A time range in which a sensor met the condition of a rule. */
export interface Alarm {
  alarm_id: string;
  rule_id: string;
  /** its name */
  rule: string;
  severity: Severity;
  /** null: an alarm from before this was stored */
  condition: AlarmCondition['kind'] | null;
  /** what to do */
  text: string | null;
  device_id: string;
  device: string | null;
  sensor_id: string;
  sensor: string | null;
  site: string | null;
  /** ISO 8601, as all times here */
  started_at: string;
  opened_at: string;
  cleared_at: string | null;
  /** null: an absence */
  peak: number | null;
  /** as sent */
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
  /** the oldest sample in the range */
  stored_from: string | null;
  /** the newest */
  stored_to: string | null;
  count: number;
  sensors: number;
  partial: boolean;
  /** tested sensors for which the rule never fires */
  without_interval: number;
  total_ms: number;
  items: PastEpisode[];
  fewer_alarms: { limit: number; count: number } | null;
  more_alarms: { limit: number; count: number } | null;
}

export type Page<T> = { items: T[]; next: string | null };
