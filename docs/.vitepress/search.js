import MiniSearch from 'minisearch';

/** @import { Options, Query, SearchResult } from 'minisearch' */

/**
 * Search of the manual. VitePress writes functions of its settings as text, which the browser would have to evaluate. The policy of the
 * pages forbids that, so this module stands in for `minisearch` (see config.js).
 */

/** How much a result of a folder or a page counts. A reader who searches usually wants to do something. @type {[part: string, weight: number][]} */
const WEIGHTS = [
  ['/how-to/run-the-benchmark', 0.5],
  ['/how-to/', 2.5],
  ['/tutorial/', 1.8],
  ['/reference/', 1.2],
  ['/explanation/benchmark', 0.4],
  ['/explanation/deployments', 0.4],
  ['/explanation/', 0.8],
  ['/decisions/', 0.4],
];

/** The start page and the page for contributors link to everything, and explain nothing. */
const OTHER_WEIGHT = 0.2;

/** Words that people use, and those of the manual for the same thing. @type {Record<string, string[]>} */
const SYNONYMS = {
  acknowledge: ['acknowledged', 'take'],
  alarm: ['alert'],
  alert: ['alarm'],
  authentication: ['credential', 'token'],
  backup: ['back', 'restore'],
  certificate: ['tls'],
  chart: ['dashboard'],
  comma: ['csv'],
  csv: ['import', 'export'],
  datacenter: ['cluster', 'node'],
  decimal: ['csv'],
  delete: ['retire', 'remove'],
  email: ['mail'],
  excel: ['csv'],
  firmware: ['esp32'],
  history_days: ['retention'],
  http_port: ['port'],
  https: ['tls'],
  install: ['deploy'],
  keep: ['retention'],
  laptop: ['machine'],
  login: ['token', 'sign'],
  longer: ['retention'],
  lost: ['loses', 'guarantee'],
  notification: ['alarm', 'webhook'],
  offline: ['absence', 'silent'],
  own: ['map'],
  password: ['credential', 'secret'],
  performance: ['load', 'benchmark'],
  restore: ['back'],
  rejected: ['refused'],
  refused: ['dead'],
  remove: ['retire'],
  reset: ['fresh'],
  retention: ['keep'],
  scale: ['add', 'processes'],
  slack: ['webhook'],
  ssl: ['tls'],
  timezone: ['zone', 'utc'],
  update: ['upgrade', 'migrate'],
  upgrade: ['migrate'],
  username: ['account', 'credential'],
  zigbee: ['zigbee2mqtt'],
};

/** Words without a subject. */
const FILLERS = new Set(
  'a an and at be can do does for from how i in is it my of on the to use what when why with'.split(' '),
);

/** As the index separates words: `HISTORY_DAYS` and `node-red` are two words each. */
const SEPARATORS = /[\p{Z}\p{P}]+/u;

/** How much a word of a heading, of the headings above it and of the text counts. */
const BOOST = { title: 6, titles: 3, text: 1 };
const SYNONYM_BOOST = { title: 3, titles: 1.5, text: 0.5 };

/** How much more a section counts if the title of its page has the word: the whole page is about it. */
const TITLE_WEIGHT = 2.5;

/**
 * @param {string} id address of a section, with its base
 * @param {string} term
 * @param {Record<string, unknown>} [section]
 * @returns {number}
 */
function weightOf(id, term, section) {
  const { title = '', titles = [] } = /** @type {{ title?: string, titles?: string[] }} */ (section ?? {});
  const weight = WEIGHTS.find(([part]) => id.includes(part))?.[1] ?? OTHER_WEIGHT;
  const page = (titles[0] ?? title).toLowerCase().split(SEPARATORS);
  return page.includes(term) ? weight * TITLE_WEIGHT : weight;
}

/** @param {string} word @returns {string[]} the word and its singular */
const formsOf = (word) => (/[^s]s$/.test(word) && word.length > 3 ? [word, word.slice(0, -1)] : [word]);

/** @param {string} word @returns {string[]} words of the manual for the same thing */
const synonymsOf = (word) =>
  formsOf(word).flatMap((form) => (Object.hasOwn(SYNONYMS, form) ? (SYNONYMS[form] ?? []) : []));

/** @param {string} word of a search, without spaces @returns {Query} finds sections with the word, or with another word for it */
const queryOf = (word) => ({
  combineWith: 'OR',
  queries: [
    {
      combineWith: 'AND',
      // The name of a setting or a metric is meant as it is: MQTT_AUTH is not MQTT and "authority".
      ...(word.includes('_') && { prefix: false }),
      queries: word
        .split(SEPARATORS)
        .filter(Boolean)
        .map((part) => ({ combineWith: 'OR', queries: formsOf(part) })),
    },
    { combineWith: 'OR', queries: synonymsOf(word), boost: SYNONYM_BOOST },
  ],
});

/**
 * Searches sections that have every word. If there are none, it searches those that have any.
 *
 * @param {MiniSearch} index
 * @param {string} text
 * @returns {SearchResult[]} the best first
 */
export function searchSections(index, text) {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
  const subjects = words.filter((word) => !FILLERS.has(word));
  const queries = (subjects.length > 0 ? subjects : words).map(queryOf);
  const options = {
    boost: BOOST,
    prefix: true,
    // A short word or one with digits, such as ESP32, is a name, which has no similar spelling.
    fuzzy: (/** @type {string} */ term) => (/^\D{6,}$/.test(term) ? 0.2 : false),
    boostDocument: weightOf,
  };
  const pages = index.search({ combineWith: 'AND', queries }, options);
  return pages.length > 0 ? pages : index.search({ combineWith: 'OR', queries }, options);
}

export default {
  /** @param {string} json an index @param {Options} options @returns {Pick<MiniSearch, 'search'>} what the search box uses */
  loadJSON(json, options) {
    const index = MiniSearch.loadJSON(json, options);
    return { search: (text) => searchSections(index, String(text)) };
  },
};
