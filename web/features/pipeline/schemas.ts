// Generated from the OpenAPI document by `npm run docs:reference`.

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
    /** The other system took the last request of every process. */
    ok: boolean;
    /** Age of the block that waits longest to be sent. */
    lag_ms: number;
    queue_bytes: number;
    queue_limit: number;
    /** All hours before it are complete in the other system. Null until each group of devices has begun. */
    until: string | null;
  } | null;
  ingest: {
    /** Whether a measurement registers its device (`AUTO_REGISTER`). Otherwise a birth comes first. */
    auto_register: boolean;
    /** Null: the process that answers knows no broker. */
    mqtt: Mqtt | null;
  };
}
/** `pressure` has the congestion window for requests to the database, its upper limit (`INGEST_MAX_IN_FLIGHT`), the count of requests that wait for a place, and the age of the oldest sample in the journal. `readers` counts the readers of `/stream` at this process. `client_id` is the MQTT client id; for a process without a session at the broker it is the address where the process serves. */
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
    journal_ms: number;
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
/** The rates of all processes together over the last five seconds. `commit_ms` is the time from the receipt of a message to its commit, exact to 3 %, null if nothing was committed. `in_flight` counts the running requests to the database. `window` is the congestion window, the current limit of `in_flight`, and `window_limit` its upper limit (`INGEST_MAX_IN_FLIGHT`). `waiting` counts the requests that wait for a place in the window. `journal_ms` is the age of the oldest sample in a journal whose row is not written yet, 0 if no sample waits. `readers` counts the readers of `/stream`. */
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
  journal_ms: number;
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
    journal_ms: number;
  }[];
}
