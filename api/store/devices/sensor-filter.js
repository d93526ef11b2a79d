/**
 * What a page of sensors is narrowed to; several conditions hold together.
 *
 * @typedef {{ type?: string, site?: string, name?: string }} SensorFilter `name` is a beginning
 */

/** @param {import('./latest-rows.js').LatestRow} row @param {SensorFilter} filter */
export const matches = (row, { type, site, name }) =>
  (type === undefined || row.type === type) &&
  (site === undefined || row.site === site) &&
  (name === undefined || (row.name ?? '').startsWith(name));

/** @param {SensorFilter} filter @returns {number} how many conditions it has */
export const conditions = (filter) => Object.values(filter).filter((term) => term !== undefined).length;

/**
 * The index expected to have the fewest rows: a name's beginning says more than a site, a site more than a type.
 *
 * @param {SensorFilter} filter
 * @returns {{ kind: import('./sensor-index.js').IndexKind, term: string } | null} null: no condition
 */
export function narrowest({ type, site, name }) {
  if (name !== undefined) return { kind: 'name', term: name };
  if (site !== undefined) return { kind: 'site', term: site };
  if (type !== undefined) return { kind: 'type', term: type };
  return null;
}
