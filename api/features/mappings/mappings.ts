import { MillraceError } from '../../../common/errors.ts';
import { readMappings } from './file.ts';
import type { Mapping } from './mapping.ts';
import { covers, isReserved, type Levels } from './pattern.ts';

export { expandPreset, parseMappings, readMappings, readPresets } from './file.ts';
export { Mapping } from './mapping.ts';
export { proposeMapping, proposeMappings } from './proposal.ts';

/** The kind of the routes of mapped topics. */
export const MAPPED = 'mapped';

export interface MappedTopic {
  kind: typeof MAPPED;
  /** empty: the payload names the device */
  device: string;
  mapping: Mapping;
  levels: Levels;
}

/**
 * One process receives each message with values (`shared`), and each process all descriptions (`own`). `covered`:
 * another shared filter matches all topics of these. A broker may send a message once for each matching filter (MQTT 5,
 * 3.3.4), and Millrace would store each copy.
 */
export type MappedFilters = { shared: string[]; own: string[]; covered: string[] };

export class Mappings {
  #all;

  /** The first mapping that matches a topic is used. */
  constructor(all: Mapping[]) {
    this.#all = all;
  }

  /** @throws `bad_settings` */
  static load(path: string | undefined): Mappings {
    return new Mappings(path === undefined ? [] : readMappings(path));
  }

  /** @param reserved beginnings of topics that other features read @throws `bad_settings` */
  checkPatterns(reserved: string[]) {
    for (const { patterns } of this.#all)
      for (const { text } of patterns)
        for (const prefix of reserved)
          if (text.startsWith(prefix))
            throw new MillraceError(
              'bad_settings',
              `Mappings to correct (MQTT_MAPPINGS):\n  ${text} must not begin with ${prefix}: these topics have a meaning of their own`,
            );
  }

  get all(): readonly Mapping[] {
    return this.#all;
  }

  /** The topic is outside the contract. Returns null if no mapping reads it. */
  match(topic: string): MappedTopic | null {
    if (this.#all.length === 0 || isReserved(topic)) return null;
    const split = topic.split('/');
    for (const mapping of this.#all) {
      const levels = mapping.match(split);
      if (levels) return { kind: MAPPED, device: mapping.deviceOf(levels), mapping, levels };
    }
    return null;
  }

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
