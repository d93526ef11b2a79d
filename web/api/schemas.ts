// Generated from the OpenAPI document by `npm run docs:reference`.

/** A sensor with its newest value, and how unusual it is. */
export interface JudgedItem {
  device_id: string;
  sensor_id: string;
  device: string | null;
  name: string | null;
  type: string | null;
  unit: string | null;
  site: string | null;
  /** The announced interval of its measurements, in ms. Missing if none was announced, and over MQTT. */
  interval_ms?: number;
  ts: string | null;
  value: number | null;
  /** Only over MQTT, after a correction: this value replaces a shown one up to this time, even if it is older. */
  corrected_until?: string;
  /** How far the value is above (negative: below) what is usual for this sensor at this hour of the week, in deviations. It is missing while nothing is known. */
  sigmas?: number;
}
export interface Readiness {
  ready: boolean;
  checks: {
    [k: string]: {
      ok: boolean;
      message: string;
    };
  };
}
/** A sensor of the requested device, with its newest value. */
export interface Sensor {
  sensor_id: string;
  name: string | null;
  type: string | null;
  unit: string | null;
  label: string | null;
  interval_ms: number | null;
  ts: string | null;
  value: number | null;
}
export interface DeviceWithSensors {
  device_id: string;
  name: string | null;
  site: string | null;
  label: string | null;
  state: 'online' | 'offline' | 'not_live';
  online: boolean;
  last_seen: string | null;
  registered_at: string;
  /** The clock of the device minus that of the server in ms, when its newest session began: negative if it is behind. null: no difference is known. */
  clock_offset_ms: number | null;
  sensors: Sensor[];
}
/** `state` is what the device announced. A device that announced nothing is `online` for five minutes after a message, and then `not_live`. `last_seen` is the time of its last message, to the minute. */
export interface Device {
  device_id: string;
  name: string | null;
  site: string | null;
  label: string | null;
  state: 'online' | 'offline' | 'not_live';
  online: boolean;
  last_seen: string | null;
}
export interface Event {
  ts: string;
  kind: 'birth' | 'online' | 'offline';
  /** The clock of the device minus that of the server in ms; missing: no difference is known. */
  clock_offset_ms?: number;
}
export interface UnwatchedTime {
  /** When the record of watched time begins: with the first process that writes it. Null: not yet. */
  since: string | null;
  /** Half-open, oldest first. At most 1000 items: the longest. */
  items: {
    from: string;
    to: string;
  }[];
  /** Items up to this length may be missing: two and a half heartbeats (25,000), or more if the range has too many items. */
  left_out_ms: number;
}
export interface Fleet {
  devices: {
    online: number;
    offline: number;
    not_live: number;
  };
  sensors: number;
  /** Counts of sensors, by type or by site. */
  by_type: {
    [k: string]: number;
  };
  /** Counts of sensors, by type or by site. */
  by_site: {
    [k: string]: number;
  };
}
export interface Measurement {
  ts: string;
  value: number;
}
/** Points in order of time. Bins without samples are left out. `source` is `statistics` if the points are made of the statistics of whole hours, else `samples`. */
export interface Series {
  points: Point[];
  /** The width of a bin in milliseconds. */
  step_ms: number;
  source: 'statistics' | 'samples';
}
/** The samples of one bin. `ts` is the start of the bin, also if the range starts within it. `avg` is null if the sum overflows a double. */
export interface Point {
  ts: string;
  min: number;
  max: number;
  avg: number | null;
  count: number;
}
/** `committed_at` is the commit time of the oldest of these values, `sent_at` the time of sending. Both are by the clock of the process that answers. Their difference is measured without comparing the clocks of two machines, so it leaves out the time in an external broker. `committed_at` is null if all values were read from the database. */
export interface Delta {
  items: JudgedItem[];
  committed_at: string | null;
  sent_at: string;
}
/** `Stats`, and the health of the processes. Processes with a failed check come first. The event needs no database, so it also comes while the database is away. */
export interface StatsEvent {
  samples_per_s: number;
  commit_ms: {
    p50: number | null;
    p99: number | null;
  };
  in_flight: number;
  refused_per_s: number;
  readers: number;
  window: number;
  window_limit: number;
  waiting: number;
  journal_ms: number;
  health: ProcessHealth[];
}
/** The health of one process, as it reports it once a second. `checks` are those of its `/readyz`. `unanswered_ms` is the time since the database last answered a check, 0 while it answers. `unsettled` counts the messages that are received and not acknowledged, with the age of the oldest. `standstill_ms` is the time since one of them made progress. */
export interface ProcessHealth {
  client_id: string;
  role: 'all' | 'ingest' | 'http';
  checks: {
    [k: string]: {
      ok: boolean;
      message: string;
    };
  };
  unanswered_ms: number;
  unsettled: {
    messages: number;
    oldest_ms: number;
    standstill_ms: number;
  };
}
/** The broker that devices connect to. `embedded`: the process that answers is this broker. `host` is null if it listens on all addresses: use the host of this API. An external broker has the host by which the process reaches it. `credentials`: whether a client needs a user name and a password; at an external broker, whether the process has them. */
export interface Mqtt {
  embedded: boolean;
  host: string | null;
  port: number;
  tls: boolean;
  credentials: boolean;
}
