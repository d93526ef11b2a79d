/**
 * @typedef {object} ServiceParts
 * @property {import('../../access/http/index.js').Access} access
 * @property {import('../../observability/readiness.js').Readiness} readiness
 * @property {import('../../observability/metrics.js').Metrics} metrics
 */

/** `GET /healthz` @returns {import('express').RequestHandler} */
export const getHealth = () => (_req, res) => {
  res.json({ status: 'alive' });
};

/** `GET /readyz` @param {ServiceParts} parts @returns {import('express').RequestHandler} */
export const getReadiness =
  ({ readiness }) =>
  async (_req, res) => {
    const state = await readiness.read();
    res.status(state.ready ? 200 : 503).json(state);
  };

/** `GET /metrics` @param {ServiceParts} parts @returns {import('express').RequestHandler} */
export const getMetrics =
  ({ metrics }) =>
  async (_req, res) => {
    res.type(metrics.registry.contentType).send(await metrics.registry.metrics());
  };
