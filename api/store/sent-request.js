/** The channel of `node:diagnostics_channel` on which a process tells of each request that its database answered or failed. */
export const SENT_REQUESTS = 'millrace:cql:request';

/**
 * A request as the driver sent it.
 *
 * @typedef {object} SentRequest
 * @property {string} application the client's name
 * @property {string} intended consistency level: `CQL_CONSISTENCY`
 * @property {import('cassandra-driver').Host} coordinator the node that it was sent to
 * @property {string | Array<{ query: string, params?: any }>} query a batch is an array
 * @property {any} parameters of what is no batch
 * @property {import('cassandra-driver').ExecutionOptions} options
 */
