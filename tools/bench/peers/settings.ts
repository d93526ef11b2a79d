import { LINE_TABLE } from '../load/payloads.ts';

/** Class K: an acknowledged sample survives the kill of any process. Class P: it survives a power cut. */
export type Class = 'K' | 'P';

/** `undelivered`: maximum number of unacknowledged messages; `batch`: samples in one request to the database */
export type Tuning = { undelivered: number; batch: number };

/**
 * The best tunings of a sweep on a quiet machine (2026-11-26): 1,000 to 20,000 undelivered messages, and batches of 5,000 or 10,000.
 * Latencies and reads use the default.
 */
const BEST: Record<Class, Record<string, Tuning>> = {
  K: {
    '1x60': { undelivered: 1000, batch: 10_000 },
    '1x10': { undelivered: 20_000, batch: 10_000 },
    '1x1': { undelivered: 20_000, batch: 10_000 },
  },
  P: {
    '1x60': { undelivered: 1000, batch: 10_000 },
    '1x10': { undelivered: 5000, batch: 5000 },
    '4x10': { undelivered: 20_000, batch: 10_000 },
    '50x1': { undelivered: 1000, batch: 5000 },
  },
};

export const DEFAULT_TUNING: Tuning = { undelivered: 5000, batch: 10_000 };

export const tuningOf = (durability: Class, shape: string): Tuning =>
  BEST[durability][shape] ?? DEFAULT_TUNING;

/** Samples. Telegraf drops samples when the buffer is full. */
const BUFFER = 1_000_000;

/** Telegraf acknowledges a message after the database has answered (`persistent_session`, QoS 1). */
export function telegrafToml({
  broker,
  database,
  tuning: { undelivered, batch },
  samples,
}: {
  broker: string;
  database: string;
  tuning: Tuning;
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

# QuestDB accepts version 2 of InfluxDB's API.
[[outputs.influxdb_v2]]
  urls = ["${database}"]
  # Compressing on loopback costs CPU on both sides and gains nothing.
  content_encoding = "identity"
  timeout = "10s"
`;
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
