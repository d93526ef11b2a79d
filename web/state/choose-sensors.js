/** So many sensors of a device are shown at first, and more at a time. */
const STEP = 12;

/**
 * Which sensors of a device are shown: it may have thousands. In the address, `find` is a part of their names or types, `shown` how many.
 *
 * @template {{ name: string | null, type: string | null, sensor_id: string }} T
 * @param {T[]} items
 * @param {URLSearchParams} query
 * @returns {{ shown: T[], found: number, more: string | null }} `more`: what `shown` has to be for more of them
 */
export function chooseSensors(items, query) {
  const part = (query.get('find') ?? '').toLowerCase();
  const found = part ? items.filter((item) => wordsOf(item).includes(part)) : items;
  const most = Math.max(Math.trunc(Number(query.get('shown'))) || 0, STEP);
  return {
    shown: found.slice(0, most),
    found: found.length,
    more: found.length > most ? String(most + STEP) : null,
  };
}

/** @param {{ name: string | null, type: string | null, sensor_id: string }} item */
const wordsOf = ({ name, type, sensor_id }) => `${name ?? sensor_id}\n${type ?? ''}`.toLowerCase();

/** @param {number} count @returns {boolean} whether one has to choose */
export const isMany = (count) => count > STEP;

/**
 * In the order of the charts: what is measured in the same unit stands together.
 *
 * @template {{ type: string | null, unit: string | null }} T
 * @param {T[]} items by name
 * @returns {{ label: string, items: T[] }[]} `label` names the group, as devices wrote it
 */
export function byUnit(items) {
  /** @type {Map<string, T[]>} */
  const groups = new Map();
  for (const item of items) {
    const unit = item.unit ?? '';
    groups.set(unit, [...(groups.get(unit) ?? []), item]);
  }
  return [...groups].map(([label, of]) => ({ label, items: of }));
}
