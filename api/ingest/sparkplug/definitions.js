/**
 * What a birth says of the metrics that later messages call by name or by alias.
 *
 * @typedef {object} Definitions
 * @property {number} bornAt epoch ms: from then on they hold
 * @property {string} text as it is stored: JSON, `[[name, alias or null, datatype], ...]`
 * @property {Map<number | string, string>} names by alias
 * @property {Map<string, number>} datatypes by name
 */

/** @typedef {import('./payload/metric.js').Metric} Metric */

/**
 * @param {Metric[]} metrics of a birth, which tells name, alias and type of each
 *   (tck-id-payloads-alias-birth-requirement, tck-id-payloads-metric-datatype-req)
 * @param {number} bornAt epoch ms
 * @returns {Definitions}
 */
export function definitionsOf(metrics, bornAt) {
  const named = metrics.filter(({ name }) => name !== null);
  return readDefinitions(
    JSON.stringify(named.map(({ name, alias, datatype, implied }) => [name, alias, datatype || implied])),
    bornAt,
  );
}

/** @param {string} text @param {number} bornAt epoch ms @returns {Definitions} */
export function readDefinitions(text, bornAt) {
  /** @type {Array<[name: string, alias: number | string | null, datatype: number]>} */
  const entries = JSON.parse(text);
  /** @type {Definitions} */
  const definitions = { bornAt, text, names: new Map(), datatypes: new Map() };
  for (const [name, alias, datatype] of entries) {
    if (alias !== null) definitions.names.set(alias, name);
    definitions.datatypes.set(name, datatype);
  }
  return definitions;
}
