import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { shapeOf } from '../load/shapes.js';
import { startChild } from '../process/child.js';

/** @import { Config } from '../../../common/settings/config.js' */
/** @import { IngestProcess } from './ingest.js' */
/** @import { Variant } from './pipeline.js' */
/** @import { Latencies } from '../load/open-loop.js' */
/** @import { Shape } from '../load/shapes.js' */

const ALONE = fileURLToPath(new URL('../variants/alone.js', import.meta.url));

/** A process that does to messages what has to be done, and nothing with them. @param {string} dir @param {string[]} nodeFlags */
export async function startAlone(dir, nodeFlags) {
  const child = await startChild(ALONE, { title: 'encoder', log: join(dir, 'alone.log'), nodeFlags });
  return {
    /** @param {string} load @param {number} forMs @returns {Promise<number>} CPU µs a sample */
    cost: (load, forMs) => child.ask('cost', { shape: shapeOf(load), forMs }),
    close: () => child.stop(),
  };
}

/**
 * The same ingest without a broker: the process makes its messages itself.
 *
 * @param {{ name: string, ingest: IngestProcess }} parts
 * @returns {Variant}
 */
export const createLoop = ({ name, ingest }) => ({
  name,
  pids: { ingest: ingest.pid },
  committed: async () => (await ingest.metrics())('iot_ingest_samples_total'),
  inFlight: (most) => ingest.ask('inFlight', most),
  begin: (shape) => ingest.ask('begin', shape),
  end: () => ingest.ask('end'),
  close: () => ingest.stop(),
});

const NATIVE = fileURLToPath(new URL('../native/main.js', import.meta.url));

/**
 * The smallest client of the native protocol, as a variant.
 *
 * @param {object} options
 * @param {string} options.dir
 * @param {string} options.contactPoint
 * @param {Config['cql']} options.cql where it stores; migrated
 * @param {number} options.groups `LATEST_GROUPS`
 */
export async function startNative({ dir, contactPoint, cql, groups }) {
  const child = await startChild(NATIVE, {
    title: 'native baseline',
    log: join(dir, 'native.log'),
    env: { BENCH_CONTACT_POINT: contactPoint, BENCH_KEYSPACE: cql.keyspace, BENCH_GROUPS: String(groups) },
  });
  return {
    name: 'native',
    cql,
    /** @type {Record<string, number>} */
    pids: { ingest: child.pid },
    committed: () => child.ask('committed'),
    inFlight: (/** @type {number} */ most) => child.ask('inFlight', most),
    begin: (/** @type {Shape} */ shape) => child.ask('begin', shape),
    end: () => child.ask('end'),
    /**
     * @param {Shape} shape
     * @param {{ rate: number, forMs: number }} options `rate`: samples/s
     * @returns {Promise<Latencies>}
     */
    paced: (shape, options) => child.ask('paced', { shape, ...options }),
    close: () => child.stop(),
  };
}

/** @typedef {Awaited<ReturnType<typeof startNative>>} NativeBaseline */
