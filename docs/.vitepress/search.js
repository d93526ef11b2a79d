import MiniSearch from 'minisearch';

/** @import { Options } from 'minisearch' */

/**
 * Search of the manual. VitePress writes functions of its settings as text, which the browser would have to evaluate. The policy of the
 * pages forbids that, so this module stands in for `minisearch` (see config.js).
 */

/** How much a result of a folder or a page counts. A reader who searches usually wants to do something. @type {[part: string, weight: number][]} */
const WEIGHTS = [
  ['/how-to/', 2.5],
  ['/tutorial/', 1.8],
  ['/reference/', 1.2],
  ['/explanation/benchmark', 0.4],
  ['/explanation/deployments', 0.4],
  ['/explanation/', 0.8],
  ['/decisions/', 0.4],
];

/** Words that people use, and those of the manual for the same thing. @type {Record<string, string[]>} */
const SYNONYMS = {
  alarm: ['alert'],
  alert: ['alarm'],
  arduino: ['device', 'mosquitto_pub'],
  backup: ['back', 'restore'],
  csv: ['import', 'export'],
  datacenter: ['cluster', 'node'],
  delete: ['retire', 'remove'],
  esp32: ['device', 'mqtt', 'mosquitto_pub'],
  grafana: ['monitor'],
  keep: ['history_days', 'retention'],
  login: ['token', 'sign'],
  longer: ['history_days'],
  password: ['credentials', 'token'],
  rejected: ['refused'],
  refused: ['dead'],
  remove: ['retire'],
  retention: ['history_days'],
  scale: ['add', 'processes'],
  ssl: ['tls'],
  https: ['tls'],
  timezone: ['zone', 'utc'],
  upgrade: ['migrate'],
  zigbee: ['zigbee2mqtt', 'mapping'],
};

/** @param {string} id address of a section, with its base @returns {number} */
export const weightOf = (id) => WEIGHTS.find(([part]) => id.includes(part))?.[1] ?? 1;

/** @param {string} term of a search @returns {string[]} the term, its singular, and words for the same thing */
export function termsOf(term) {
  const word = term.toLowerCase();
  const singular = /[^s]s$/.test(word) && word.length > 3 ? word.slice(0, -1) : word;
  const known = [word, singular].flatMap((each) =>
    Object.hasOwn(SYNONYMS, each) ? (SYNONYMS[each] ?? []) : [],
  );
  return [...new Set([word, singular, ...known])];
}

/** @param {Options} options @returns {Options} the same, with weights and synonyms */
export const withRanking = (options) => ({
  ...options,
  searchOptions: { ...options.searchOptions, processTerm: termsOf, boostDocument: weightOf },
});

export default {
  /** @param {string} json an index @param {Options} options @returns {MiniSearch} */
  loadJSON: (json, options) => MiniSearch.loadJSON(json, withRanking(options)),
};
