import type { Config } from '../../../common/settings/config.ts';
import type { Cluster } from '../../../infra/engine/cluster.ts';
import { compareLedger, openStore, type Result } from '../../../simulator/verify/compare.ts';
import { reportLines } from '../../../simulator/verify/report.ts';
import { until } from '../../support/until.ts';

/** After the last fault, brokers still deliver the messages that they hold. */
const ARRIVAL_MS = 120_000;

export function createJudge({ cluster, config }: { cluster: Cluster; config: Config }) {
  async function compare(ledgerPath: string) {
    const store = await openStore(config);
    try {
      return await compareLedger({ ledgerPath, store, groups: config.retention.latestGroups });
    } finally {
      await store.close();
    }
  }

  return {
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
     * @throws {Error} with the differences
     */
    async agreement(ledgerPath: string): Promise<Result> {
      let result: Result | undefined;
      const agrees = async () => {
        result = await compare(ledgerPath);
        return result.agree;
      };
      await until(agrees, { withinMs: ARRIVAL_MS }).catch((error) => {
        throw result ? new Error(reportLines(result).join('\n')) : error;
      });
      return result as Result;
    },
  };
}

export type Judge = ReturnType<typeof createJudge>;
