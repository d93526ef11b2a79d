/**
 * Mappings of topics outside the contract. A mapping defines which messages of other products become which
 * measurements. Mappings are data, and run no code. `presets/` has ready-made mappings. `../handlers/mapped.ts` handles
 * the messages of mapped topics.
 */
import { readMappings } from './file.ts';
import type { Mapping } from './mapping.ts';
import { covers, isReserved, type Levels } from './pattern.ts';

export { expandPreset, parseMappings, readMappings, readPresets } from './file.ts';
export { Mapping } from './mapping.ts';
export { proposeMapping, proposeMappings } from './proposal.ts';

/** A topic that a mapping reads. */
export interface MappedTopic {
  kind: 'mapped';
  /** name of the device in the topic; empty: the payload names the device */
  device: string;
  mapping: Mapping;
  levels: Levels;
  sparkplug?: undefined;
}

/**
 * Filters for subscriptions. `shared`: filters of shared subscriptions, so only one process receives each message with
 * measurements. `own`: each process receives all descriptions. `covered`: filters without a subscription, because
 * another shared filter matches all their topics. A broker may send a message once for each matching filter (MQTT 5,
 * 3.3.4), and Millrace would store each copy.
 */
export type MappedFilters = { shared: string[]; own: string[]; covered: string[] };

/** The mappings of this process. */
export class Mappings {
  #all;

  /** @param all the first mapping that matches a topic is used */
  constructor(all: Mapping[]) {
    this.#all = all;
  }

  /** @param path MQTT_MAPPINGS @throws {MillraceError} `bad_settings` */
  static load(path: string | undefined): Mappings {
    return new Mappings(path === undefined ? [] : readMappings(path));
  }

  get all(): readonly Mapping[] {
    return this.#all;
  }

  /** @param topic a topic outside the contract @returns null: no mapping reads the topic */
  match(topic: string): MappedTopic | null {
    if (this.#all.length === 0 || isReserved(topic)) return null;
    const split = topic.split('/');
    for (const mapping of this.#all) {
      const levels = mapping.match(split);
      if (levels) return { kind: 'mapped', device: mapping.deviceOf(levels), mapping, levels };
    }
    return null;
  }

  /** The filters that a subscriber of an external broker needs. */
  get filters(): MappedFilters {
    const read = this.#all.filter(({ isSkipped }) => !isSkipped);
    const filtersOf = (mappings: Mapping[]) => [
      ...new Set(mappings.flatMap(({ patterns }) => patterns.map(({ filter }) => filter))),
    ];
    // A shared subscription gets no retained messages, and descriptions are retained.
    const own = filtersOf(read.filter(({ isDescription }) => isDescription));
    const values = filtersOf(read.filter(({ isDescription }) => !isDescription));
    const shared = values.filter((filter) => !own.includes(filter));
    const isCovered = (filter: string) => shared.some((other) => other !== filter && covers(other, filter));
    return {
      own,
      shared: shared.filter((filter) => !isCovered(filter)),
      covered: shared.filter(isCovered),
    };
  }
}
