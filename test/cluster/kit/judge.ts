import { compareLedger, openStore } from '../../../simulator/verify/compare.js';
import { reportLines } from '../../../simulator/verify/report.js';
import { until } from '../../support/until.js';

/** @import { Config } from '../../../common/settings/config.js' */
/** @import { Cluster } from '../../../infra/engine/cluster.js' */
/** @import { Result } from '../../../simulator/verify/compare.js' */

/** After the last fault, brokers still deliver the messages that they hold. */
const ARRIVAL_MS = 120_000;

/**
 * Compares ledgers with the database.
 *
 * @param {object} options
 * @param {Cluster} options.cluster
 * @param {Config} options.config
 */
export function createJudge({ cluster, config }) {
  /** @param {string} ledgerPath */
  async function compare(ledgerPath) {
    const store = await openStore(config);
    try {
      return await compareLedger({ ledgerPath, store, groups: config.retention.latestGroups });
    } finally {
      await store.close();
    }
  }

  return {
    /** @param {string} ledgerPath */
    compare,

    /**
     * Repairs the nodes, as an operator would: killed nodes may lack what the others have. After that, reads at
     * LOCAL_QUORUM find all that ingest wrote.
     */
    async repair() {
      await cluster.nodes[0]?.nodetool(['repair', '-full', config.cql.keyspace]);
    },

    /**
     * Settles when a ledger and the database agree. It waits for messages that are still on their way.
     *
     * @param {string} ledgerPath
     * @returns {Promise<Result>}
     * @throws {Error} with the differences
     */
    async agreement(ledgerPath) {
      /** @type {Result | undefined} */
      let result;
      const agrees = async () => {
        result = await compare(ledgerPath);
        return result.agree;
      };
      await until(agrees, { withinMs: ARRIVAL_MS }).catch((error) => {
        throw result ? new Error(reportLines(result).join('\n')) : error;
      });
      return /** @type {Result} */ (result);
    },
  };
}

/** @typedef {ReturnType<typeof createJudge>} Judge */
