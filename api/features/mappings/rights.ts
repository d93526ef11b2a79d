import type { BrokerRights } from '../../feature.ts';
import type { Mappings } from './mappings.ts';

const WILDCARD = /[+#]/;

export const rightsOf = (mappings: Mappings): BrokerRights => ({
  installation: [...mappings.filters.shared, ...mappings.filters.own].map((filter) => `read ${filter}`),
  device: (device) => mappedTopicsOf(device, mappings).map((filter) => `write ${filter}`),
});

/** Mapped topics whose level {device} is this device. */
const mappedTopicsOf = (device: string, { all }: Mappings): string[] =>
  // The name may stand at the end of a line, and Mosquitto trims lines. So names with outer white space are left out.
  device.includes('/') || WILDCARD.test(device) || device !== device.trim()
    ? []
    : all.flatMap((mapping) => mapping.filtersOf(device));
