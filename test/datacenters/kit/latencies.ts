import { performance } from 'node:perf_hooks';
import cassandra from 'cassandra-driver';
import { connect } from '../../../api/store/connect.ts';
import type { Config } from '../../../common/settings/config.ts';
import { Latencies } from '../../../simulator/meter.ts';
import type { Json } from '../../support/json.ts';
import type { TestSystem } from '../../support/system/index.ts';
import { until } from '../../support/until.ts';
import { publish } from './samples.ts';

const { localQuorum, quorum, eachQuorum } = cassandra.types.consistencies;
const LEVELS = { LOCAL_QUORUM: localQuorum, QUORUM: quorum, EACH_QUORUM: eachQuorum };

/** No process watches there. */
const LONG_AGO = new Date(0);

const WARM_UP = 50;
const WRITES = 200;
const PUBLISHED = 50;

interface Percentiles {
  /** in ms */
  p50: number;
  p99: number;
}

/** Writes one row after the other at each level. */
export async function measureLatencies({ cql }: Config): Promise<Record<string, Percentiles>> {
  const client = await connect(cql, { keyspace: cql.keyspace, applicationName: 'test' });
  const write = (consistency: number, number: number) =>
    client.execute(
      'INSERT INTO watched_time (month, watched_from, client_id, watched_until) VALUES (?, ?, ?, ?)',
      [LONG_AGO, new Date(number), 'latency', new Date(number)],
      { consistency },
    );
  try {
    for (let number = 0; number < WARM_UP; number++) await write(localQuorum, number);
    const found: Record<string, Percentiles> = {};
    for (const [name, level] of Object.entries(LEVELS)) {
      const latencies = new Latencies();
      for (let number = 0; number < WRITES; number++) {
        const began = performance.now();
        await write(level, number);
        latencies.record(performance.now() - began);
      }
      found[name] = percentilesOf(latencies);
    }
    return found;
  } finally {
    await client.shutdown();
  }
}

/** From the acknowledgement of a sample in one data center until a reader in the other one finds it. */
export async function measureLag({ from, to }: { from: TestSystem; to: TestSystem }): Promise<Percentiles> {
  const latencies = new Latencies();
  for (let number = 0; number < PUBLISHED; number++) {
    await publish(from, 'lag', [{ ts: Date.now(), value: number }]);
    const began = performance.now();
    await until(async () => {
      const { items = [] }: Json = await (await to.fetch('/latest?device=lag')).json();
      return items[0]?.value === number;
    });
    latencies.record(performance.now() - began);
  }
  return percentilesOf(latencies);
}

function percentilesOf(latencies: Latencies): Percentiles {
  const { p50, p99 } = latencies.read();
  return { p50: Number(p50), p99: Number(p99) };
}
