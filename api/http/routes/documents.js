/**
 * @typedef {object} DocumentParts
 * @property {import('../../access/http/index.js').Access} access
 * @property {object} openApi
 * @property {object} asyncApi
 */

/** `GET /openapi.json` @param {DocumentParts} parts */
export const getOpenApi = ({ openApi }) => answerWith(openApi);

/** `GET /asyncapi.json` @param {DocumentParts} parts */
export const getAsyncApi = ({ asyncApi }) => answerWith(asyncApi);

/** @param {object} document @returns {import('express').RequestHandler} */
const answerWith = (document) => (_req, res) => {
  res.set({ 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' }).json(document);
};
