/**
 * Mappings of topics outside the contract. A mapping defines which messages of other products become which
 * measurements. Mappings are data, and run no code. `presets/` has ready-made mappings. `../handlers/mapped.js` handles
 * the messages of mapped topics.
 */
import { readMappings } from './file.js';
import { covers, isReserved } from './pattern.js';

/** @import { Mapping } from './mapping.js' */
/** @import { Levels } from './pattern.js' */

export { expandPreset, parseMappings, readMappings, readPresets } from './file.js';
export { Mapping } from './mapping.js';
export { proposeMapping, proposeMappings } from './proposal.js';

/**
 * A topic that a mapping reads.
 *
 * @typedef {object} MappedTopic
 * @property {'mapped'} kind
 * @property {string} device name of the device in the topic; empty: the payload names the device
 * @property {Mapping} mapping
 * @property {Levels} levels
 * @property {undefined} [sparkplug]
 */

/**
 * Filters for subscriptions. `shared`: filters of shared subscriptions, so only one process receives each message with
 * measurements. `own`: each process receives all descriptions. `covered`: filters without a subscription, because
 * another shared filter matches all their topics. A broker may send a message once for each matching filter (MQTT 5,
 * 3.3.4), and Millrace would store each copy.
 *
 * @typedef {{ shared: string[], own: string[], covered: string[] }} MappedFilters
 */

/** The mappings of this process. */
export class Mappings {
  #all;

  /** @param {Mapping[]} all the first mapping that matches a topic is used */
  constructor(all) {
    this.#all = all;
  }

  /** @param {string | undefined} path MQTT_MAPPINGS @returns {Mappings} @throws {MillraceError} `bad_settings` */
  static load(path) {
    return new Mappings(path === undefined ? [] : readMappings(path));
  }

  /** @returns {readonly Mapping[]} */
  get all() {
    return this.#all;
  }

  /** @param {string} topic a topic outside the contract @returns {MappedTopic | null} null: no mapping reads the topic */
  match(topic) {
    if (this.#all.length === 0 || isReserved(topic)) return null;
    const split = topic.split('/');
    for (const mapping of this.#all) {
      const levels = mapping.match(split);
      if (levels) return { kind: 'mapped', device: mapping.deviceOf(levels), mapping, levels };
    }
    return null;
  }

  /** The filters that a subscriber of an external broker needs. @returns {MappedFilters} */
  get filters() {
    const read = this.#all.filter(({ isSkipped }) => !isSkipped);
    const filtersOf = (/** @type {Mapping[]} */ mappings) => [
      ...new Set(mappings.flatMap(({ patterns }) => patterns.map(({ filter }) => filter))),
    ];
    // A shared subscription gets no retained messages, and descriptions are retained.
    const own = filtersOf(read.filter(({ isDescription }) => isDescription));
    const values = filtersOf(read.filter(({ isDescription }) => !isDescription));
    const shared = values.filter((filter) => !own.includes(filter));
    const isCovered = (/** @type {string} */ filter) =>
      shared.some((other) => other !== filter && covers(other, filter));
    return {
      own,
      shared: shared.filter((filter) => !isCovered(filter)),
      covered: shared.filter(isCovered),
    };
  }
}
