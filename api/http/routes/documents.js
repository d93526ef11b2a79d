/**
 * @typedef {object} DocumentParts
 * @property {object} openApi
 */

/** `GET /openapi.json` @param {DocumentParts} parts @returns {import('express').RequestHandler} */
export const getOpenApi =
  ({ openApi }) =>
  (_req, res) => {
    res.set('Cache-Control', 'no-cache').json(openApi);
  };
