/** @typedef {Record<string, any>} Resource as Kubernetes has it */

/** @param {Resource} resource @returns {string} */
export const nameOf = ({ kind, metadata }) => `${kind}/${metadata.name}`;

/** @param {Resource} resource @returns {Resource | null} the template of its pods */
export const podOf = ({ kind, spec }) =>
  ['StatefulSet', 'Deployment', 'Job'].includes(kind) ? spec.template : null;

/** @param {Resource[]} resources @param {string} name as `Kind/name` @returns {Resource} */
export function find(resources, name) {
  const found = resources.find((resource) => nameOf(resource) === name);
  if (!found) throw new Error(`There is no ${name}.`);
  return found;
}

/** @param {Record<string, string>} labels @param {Record<string, string>} wanted @returns {boolean} */
export const carries = (labels, wanted) =>
  Object.entries(wanted).every(([key, value]) => labels[key] === value);
