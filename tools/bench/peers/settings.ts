import { LINE_TABLE } from '../load/payloads.ts';

/** Class K: an acknowledged sample survives the kill of any process. Class P: it survives a power cut. */
export type Class = 'K' | 'P';

/** `undelivered`: maximum number of unacknowledged messages; `batch`: samples in one request to the database */
export type Tuning = { undelivered: number; batch: number };

/** The best tuning of an earlier sweep on a quiet machine, used where no sweep runs. */
export const KNOWN_TUNING: Tuning = { undelivered: 5000, batch: 10_000 };

export const TUNINGS: Tuning[] = [1000, 5000, 20_000].flatMap((undelivered) =>
  [5000, 10_000].map((batch) => ({ undelivered, batch })),
);

/** Samples. Telegraf drops samples when the buffer is full. */
const BUFFER = 1_000_000;

/** `questdb` accepts version 2 of InfluxDB's API. */
export type Kind = 'questdb' | 'influxdb';

/** QuestDB ignores the name. */
export const DATABASE = 'bench';

/** Telegraf acknowledges a message after the database has answered (`persistent_session`, QoS 1). */
export function telegrafToml({
  kind,
  broker,
  database,
  tuning: { undelivered, batch },
  samples,
}: {
  kind: Kind;
  /** `mqtt://host:port` */
  broker: string;
  /** `http://host:port` */
  database: string;
  tuning: Tuning;
  /** samples in a message, from which the size of the buffer follows */
  samples: number;
}): string {
  const buffer = Math.max(BUFFER, 2 * undelivered * samples);
  return `\
[agent]
  interval = "1s"
  flush_interval = "100ms"
  flush_jitter = "0s"
  metric_batch_size = ${batch}
  metric_buffer_limit = ${buffer}
  omit_hostname = true

[[inputs.mqtt_consumer]]
  servers = ["${broker.replace('mqtt:', 'tcp:')}"]
  topics = ["iot/v1/+/measurements"]
  topic_tag = ""
  qos = 1
  persistent_session = true
  client_id = "bench-telegraf"
  max_undelivered_messages = ${undelivered}
  data_format = "influx"
  influx_timestamp_precision = "1ms"

[[outputs.${kind === 'questdb' ? 'influxdb_v2' : 'influxdb'}]]
  urls = ["${database}"]
  # Compressing on loopback costs CPU on both sides and gains nothing.
  content_encoding = "identity"
  timeout = "10s"
${kind === 'questdb' ? '' : `  database = "${DATABASE}"\n  skip_database_creation = true\n`}`;
}

/** QuestDB advises this table for telemetry. A sample that is delivered twice is stored once. */
export const QUESTDB_TABLE = `CREATE TABLE IF NOT EXISTS ${LINE_TABLE} (ts TIMESTAMP, sensor SYMBOL CAPACITY 100000, value DOUBLE) TIMESTAMP(ts) PARTITION BY HOUR WAL DEDUP UPSERT KEYS(ts, sensor)`;

/** QuestDB serves only HTTP, on loopback. */
export const questdbConf = ({ port, durability }: { port: number; durability: Class }): string => `\
http.bind.to=127.0.0.1:${port}
http.min.enabled=false
line.tcp.enabled=false
pg.enabled=false
telemetry.enabled=false
shared.worker.count=2
cairo.commit.mode=${durability === 'P' ? 'sync' : 'nosync'}
cairo.wal.purge.interval=5000
`;

/** InfluxDB syncs its log before it answers: `wal-fsync-delay` has its default 0. */
export const influxdbConf = ({
  dir,
  ports,
  coldAfter = '4h',
}: {
  dir: string;
  ports: { http: number; rpc: number };
  /** time without writes after which a shard is compacted in full; default: 4 h, as in InfluxDB */
  coldAfter?: string;
}): string => `\
reporting-disabled = true
bind-address = "127.0.0.1:${ports.rpc}"

[meta]
  dir = ${JSON.stringify(`${dir}/meta`)}

[data]
  dir = ${JSON.stringify(`${dir}/data`)}
  wal-dir = ${JSON.stringify(`${dir}/wal`)}
  wal-fsync-delay = "0s"
  query-log-enabled = false
  cache-max-memory-size = "2g"
  cache-snapshot-memory-size = "${coldAfter === '4h' ? '25m' : '1k'}"
  cache-snapshot-write-cold-duration = "${coldAfter === '4h' ? '10m' : coldAfter}"
  compact-full-write-cold-duration = "${coldAfter}"

[monitor]
  store-enabled = false

[http]
  bind-address = "127.0.0.1:${ports.http}"
  log-enabled = false
`;
