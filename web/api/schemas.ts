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
  /** How far the value is above (negative: below) what is usual for this sensor at this hour of the week, in deviations. It is missing while nothing is known. */
  sigmas?: number;
}
export interface SensorBaseline {
  hours: {
    ts: string;
    mean: number;
    deviation: number;
  }[];
}
/** A sensor, its newest value, and what is usual in the hour of that value. `sigmas` is the distance in deviations, at most 99 to either side. `age_ms` is the age of the value. `baseline` is null if the hour ended meanwhile. */
export interface Outlier {
  device_id: string;
  sensor_id: string;
  device: string | null;
  name: string | null;
  type: string | null;
  unit: string | null;
  site: string | null;
  /** The announced interval of its measurements, in ms. Missing if none was announced, and over MQTT. */
  interval_ms?: number;
  ts: string;
  value: number;
  sigmas: number;
  baseline: Baseline | null;
  age_ms: number;
}
/** What is usual for a sensor in one hour, in its unit. */
export interface Baseline {
  mean: number;
  deviation: number;
}
/** The counts are of all sensors of the filter, whatever the limit. */
export interface Outliers {
  items: Outlier[];
  sensors: number;
  judged: number;
  outliers: number;
}
export interface OutlierGroups {
  items: OutlierGroup[];
  groups: number;
}
export interface OutlierGroup {
  site: string | null;
  device_id: string | null;
  device: string | null;
  sensors: number;
  judged: number;
  outliers: number;
  worst: Outlier | null;
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
/** A text about an instant. `device_id` is null if it is about the whole installation. */
export interface Annotation {
  id: string;
  /** The annotated instant. */
  ts: string;
  device_id: string | null;
  text: string;
}
export interface SearchResults {
  items: SearchResult[];
  /** Whether there are more results than `limit`. */
  more: boolean;
}
/** A site, a device or a sensor. `name` is the id if it has no name. `device` is the name of the device. Members that do not apply are null. */
export interface SearchResult {
  kind: 'site' | 'device' | 'sensor';
  name: string;
  device_id: string | null;
  sensor_id: string | null;
  device: string | null;
  type: string | null;
  site: string | null;
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
/** The rates of all processes together over the last five seconds. `commit_ms` is the time from the receipt of a message to its commit, exact to 3 %, null if nothing was committed. `in_flight` counts the running requests to the database. `window` is the congestion window, the current limit of `in_flight`, and `window_limit` its upper limit (`INGEST_MAX_IN_FLIGHT`). `waiting` counts the requests that wait for a place in the window. `readers` counts the readers of `/stream`. */
export interface Stats {
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
}
export interface RecentStats {
  items: {
    ts: string;
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
  }[];
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
export interface Pipeline {
  processes: Process[];
  /** Which way the measurements of settled messages have gone since the start of the process: `received` is the sum of the others. `merged` had the sensor and the instant of another one in their message. `skipped` are texts, nulls and other values that are not stored by rule. A message that was refused as a whole counts as one. Replays and imports are not included. */
  measurements: {
    received: number;
    stored: number;
    merged: number;
    refused: number;
    skipped: number;
  };
  database: {
    nodes: {
      address: string;
      data_center: string | null;
      up: boolean;
    }[];
  };
  broker: {
    ok: boolean;
    message: string;
  } | null;
  packed_until: string;
  stream_out: {
    /** Whether Kafka took the last request of every process. */
    ok: boolean;
    /** Age of the block that waits longest for Kafka. */
    lag_ms: number;
    queue_bytes: number;
    queue_limit: number;
    /** All hours before it are complete in Kafka. Null until each group of devices has begun. */
    until: string | null;
  } | null;
  ingest: {
    /** Whether a measurement registers its device (`AUTO_REGISTER`). Otherwise a birth comes first. */
    auto_register: boolean;
    /** Null: the process that answers knows no broker. */
    mqtt: Mqtt | null;
  };
}
/** `pressure` has the congestion window for requests to the database, its upper limit (`INGEST_MAX_IN_FLIGHT`), and the count of requests that wait for a place. `readers` counts the readers of `/stream` at this process. `client_id` is the MQTT client id; for a process without a session at the broker it is the address where the process serves. */
export interface Process {
  client_id: string;
  role: 'all' | 'ingest' | 'http';
  version: string;
  since: string;
  seen: string;
  stale: boolean;
  samples_per_s: number;
  commit_ms: {
    p50: number | null;
    p99: number | null;
  };
  in_flight: number;
  refused_per_s: number;
  readers: number;
  /** Which way the measurements of settled messages have gone since the start of the process: `received` is the sum of the others. `merged` had the sensor and the instant of another one in their message. `skipped` are texts, nulls and other values that are not stored by rule. A message that was refused as a whole counts as one. Replays and imports are not included. */
  measurements: {
    received: number;
    stored: number;
    merged: number;
    refused: number;
    skipped: number;
  };
  pressure: {
    window: number;
    window_limit: number;
    waiting: number;
  };
  broker: {
    ok: boolean;
    message: string;
  } | null;
}
/** The broker that devices connect to. `embedded`: the process that answers is this broker. `host` is null if it listens on all addresses: use the host of this API. An external broker has the host by which the process reaches it. `credentials`: whether a client needs a user name and a password; at an external broker, whether the process has them. */
export interface Mqtt {
  embedded: boolean;
  host: string | null;
  port: number;
  tls: boolean;
  credentials: boolean;
}
export interface UnmatchedTopics {
  items: UnmatchedTopic[];
  since: string;
  source: 'embedded' | 'external' | 'none';
}
/** Messages on one topic outside the contract. `topic` has the first 512 characters. `ts`, `size` and `payload_base64` are of the newest message: its receipt, its bytes, and the first 2048 of them. `suggestion` is the topic of the contract that was probably meant, with the same names; null if none is close. `mapping` is a draft for the file of `MQTT_MAPPINGS`, as YAML; null if no mapping may read the topic, or if there is a suggestion. A topic with more than 100 levels is listed as `$SYS/dropped`. */
export interface UnmatchedTopic {
  topic: string;
  count: number;
  ts: string;
  size: number;
  payload_base64: string;
  suggestion: string | null;
  mapping: string | null;
}
export interface Credential {
  device_id: string;
  /** The user name at the broker: the name or the id of the device, as the request had it. */
  account: string;
  /** Further devices whose topics the account may use. */
  devices: string[];
  issued_at: string;
  /** The time of the last new secret. */
  changed_at: string;
}
export interface IssuedCredential {
  device_id: string;
  /** The user name at the broker: the name or the id of the device, as the request had it. */
  account: string;
  /** Further devices whose topics the account may use. */
  devices: string[];
  issued_at: string;
  /** The time of the last new secret. */
  changed_at: string;
  /** The password at the broker. No other answer contains it. */
  secret: string;
}
/** `index` counts the elements of a message from 0; -1 is the message as a whole. `path` is the JSON path of the field that breaks the rule, empty for the message as a whole. For CBOR and Sparkplug it names the fields as their specifications do. `rule` describes the valid values for a person. Dead letters of older versions have neither `path` nor `rule`. */
export interface Refusal {
  index: number;
  code: string;
  path?: string;
  rule?: string;
}
/** A message with refused measurements. `refused` lists the first 100 of them; `codes` counts all. `content_type` is the content type of the message, if it had one. `size` is the size of the whole payload in bytes; the first 64 KiB are stored. If only the counts were stored, all of these members except `codes` are null. */
export interface DeadLetter {
  id: string;
  ts: string;
  device: string | null;
  topic: string;
  /** Counts of refused measurements, by code. */
  codes: {
    [k: string]: number;
  };
  refused: Refusal[] | null;
  content_type: string | null;
  size: number | null;
  payload_base64: string | null;
}
export interface DeadLetterSummary {
  items: {
    hour: string;
    dead_letters: number;
    /** Counts of refused measurements, by code. */
    codes: {
      [k: string]: number;
    };
  }[];
  from: string;
  to: string;
}
export interface RefusedDevices {
  items: {
    device_id: string;
    device: string;
    refused: number;
    newest: string;
  }[];
  dead_letters: number;
  from: string;
  to: string;
}
/** `rows` of the file are read, and their `samples` committed. `merged` counts samples that are not stored, because the file has another sample of the same sensor and time; `merged_lines` has the first hundred. `refused` counts the samples and lines that are not stored; `refused_lines` has the first thousand. `oldest` and `newest` are the times of the first and the last sample, null without samples. `first` is for a dry run: the first samples as they would be stored, with the time in the zone of the request. */
export interface Imported {
  rows: number;
  samples: number;
  merged: number;
  refused: number;
  oldest: string | null;
  newest: string | null;
  refused_lines: {
    line: number;
    code: string;
    rule: string;
  }[];
  merged_lines: {
    line: number;
    same_as: number;
  }[];
  first: {
    line: number;
    device: string;
    sensor: string;
    ts: string;
    local: string | null;
    value: number;
    type: string | null;
    unit: string | null;
    site: string | null;
  }[];
}
/** `options` are parameters of `POST /import`. A question has the parameter that answers it, and usual answers. If `options` has an answer too, it is likely, but not sure. */
export interface ImportProposal {
  options: {
    [k: string]: string;
  };
  questions: {
    option: string;
    text: string;
    choices: string[];
  }[];
  columns: string[];
}
/** A time range in which a sensor met the condition of a rule. */
export interface Alarm {
  /** An opaque text that an address can contain. */
  alarm_id: string;
  rule_id: string;
  /** The name that the rule had. */
  rule: string;
  severity: 'info' | 'warning' | 'critical';
  /** The condition of the rule. Null for alarms from before version 0.4. */
  condition: ('above' | 'below' | 'outside' | 'rate' | 'absent') | null;
  /** The advice in the version of the rule that found the alarm. Null without a text, or if the rule was removed. */
  text: string | null;
  device_id: string;
  device: string | null;
  sensor_id: string;
  sensor: string | null;
  site: string | null;
  /** The first sample of the alarm; for an absence the last sample before it. */
  started_at: string;
  /** The time of measurement at which the condition had held for long enough. */
  opened_at: string;
  cleared_at: string | null;
  /** The most extreme value, or rate a second. Null for an absence. */
  peak: number | null;
  /** Unit of the sensor when the alarm was found. */
  unit: string | null;
  /** `withdrawn`: samples that arrived later show that it did not happen. */
  state: 'open' | 'cleared' | 'withdrawn';
  /** It was opened or corrected after the fact. */
  seen_late: boolean;
  acknowledged_at: string | null;
  acknowledged_by: string | null;
  comment: string | null;
  shelved_until: string | null;
}
/** A change of an alarm, as webhooks, the stream and MQTT carry it. Webhooks do not get `shelved`. */
export interface AlarmMessage {
  event: 'opened' | 'cleared' | 'acknowledged' | 'corrected' | 'shelved';
  alarm: Alarm;
}
/** A rule of alarms. */
export interface AlarmRule {
  /** A text of 1 to 128 bytes. */
  name: string;
  scope: {
    /** Sensors of this type. */
    type?: string;
    /** Sensors of this site. */
    site?: string;
    /** The device: a UUID in lower case, or a name. */
    device?: string;
    /** The sensor of `device`: a UUID in lower case, or a name. */
    sensor?: string;
  };
  condition:
    | {
        kind: 'above';
        limit: number;
        clear?: number;
        /** How long the condition must hold, in ms. Default: one sample is enough. */
        for_ms?: number;
        /** For how many samples the condition must hold. Default: 1. */
        for_samples?: number;
      }
    | {
        kind: 'below';
        limit: number;
        clear?: number;
        /** How long the condition must hold, in ms. Default: one sample is enough. */
        for_ms?: number;
        /** For how many samples the condition must hold. Default: 1. */
        for_samples?: number;
      }
    | {
        kind: 'outside';
        limit: [number, number];
        clear?: [number, number];
        /** How long the condition must hold, in ms. Default: one sample is enough. */
        for_ms?: number;
        /** For how many samples the condition must hold. Default: 1. */
        for_samples?: number;
      }
    | {
        kind: 'rate';
        /** The change of the value in a second, without its sign. */
        limit: number;
        clear?: number;
        /** How long the condition must hold, in ms. Default: one sample is enough. */
        for_ms?: number;
        /** For how many samples the condition must hold. Default: 1. */
        for_samples?: number;
      }
    | {
        kind: 'absent';
        /** The silence in ms. */
        for_ms?: number;
        /** The silence in intervals of the sensor, by its birth. Default: 3, without `for_ms`. */
        intervals?: number;
      };
  severity: 'info' | 'warning' | 'critical';
  /** What to do. It goes out with each alarm. */
  text?: string;
  rule_id: string;
  /** Each change makes a new version. */
  version: number;
  /** The time of measurement from which this version applies. */
  since: string;
}
/** When a rule would have fired. */
export interface Backtest {
  from: string;
  to: string;
  /** The oldest sample that the tested sensors have in the range. Null: they have none. */
  stored_from: string | null;
  /** The newest of these samples, or `to` if newer ones are outside the range. */
  stored_to: string | null;
  /** Alarms that the rule would have opened, with those that `items` leaves out. */
  count: number;
  /** Sensors that were looked at. */
  sensors: number;
  /** The scope has more sensors than one test reads. */
  partial: boolean;
  /** Tested sensors without an interval. A rule of the kind `absent` with `intervals` never fires for them. 0 for other rules. */
  without_interval: number;
  /** How long the listed alarms lasted together. */
  total_ms: number;
  /** The first 1,000 alarms, by sensor and time. */
  items: {
    device_id: string;
    device: string | null;
    sensor_id: string;
    sensor: string | null;
    started_at: string;
    opened_at: string;
    cleared_at: string | null;
    peak: number | null;
  }[];
  /** A limit with fewer alarms, and their number. */
  fewer_alarms: {
    limit: number;
    count: number;
  } | null;
  /** A limit with more alarms, and their number. */
  more_alarms: {
    limit: number;
    count: number;
  } | null;
}
