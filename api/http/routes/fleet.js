import { createFleetCount } from '../fleet-count.js';
import { fleetItem } from '../items.js';
import { readQuery } from '../parameters.js';

/**
 * `GET /fleet`: how many there are.
 *
 * @param {import('../api.js').RouteParts} parts
 * @returns {import('express').RequestHandler}
 */
export function getFleet({ store, groups, clock }) {
  const fleet = createFleetCount({ tally: store.fleet.tally, groups, clock });
  return async (req, res) => {
    readQuery(req, {});
    res.json(fleetItem(await fleet.read()));
  };
}
