/** @import { IngestProcess } from './ingest.js' */
/** @import { Contender } from './line.js' */

/**
 * The same ingest without a broker: the process makes its messages itself.
 *
 * @param {{ name: string, ingest: IngestProcess }} parts
 * @returns {Contender}
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
