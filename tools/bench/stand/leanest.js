import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startChild } from './child.js';

/** @import { Config } from '../../../common/settings/config.js' */
/** @import { Shape } from '../load/shapes.js' */
/** @import { Latencies } from '../measure/latencies.js' */

const LEANEST = fileURLToPath(new URL('../leanest/main.js', import.meta.url));

/**
 * The leanest client there is, as a contender.
 *
 * @param {object} options
 * @param {string} options.dir
 * @param {string} options.contactPoint
 * @param {Config['cql']} options.cql where it stores; migrated
 * @param {number} options.groups `LATEST_GROUPS`
 */
export async function startLeanest({ dir, contactPoint, cql, groups }) {
  const child = await startChild(LEANEST, {
    title: 'leanest loop',
    log: join(dir, 'leanest.log'),
    env: { BENCH_CONTACT_POINT: contactPoint, BENCH_KEYSPACE: cql.keyspace, BENCH_GROUPS: String(groups) },
  });
  return {
    name: 'leanest',
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

/** @typedef {Awaited<ReturnType<typeof startLeanest>>} Leanest */
