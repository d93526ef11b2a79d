/** Which versions of Node.js `npm run test:nodes` runs the tests on. */

/**
 * Lists the versions to test when the command line names none.
 *
 * @param {object} accepted
 * @param {string} accepted.engines `engines.node` of package.json, such as `>=20.12`
 * @param {string} accepted.newest of `.nvmrc`, such as `24`
 * @param {boolean} [accepted.between] also the releases with long-term support between them, which have even majors
 * @returns {string[]} the oldest first: one whole version, then majors
 */
export function defaultVersions({ engines, newest, between = false }) {
  const oldest = oldestOf(engines);
  const versions = [oldest];
  const first = major(oldest) + 1;
  for (let even = first + (first % 2); between && even < major(newest); even += 2)
    versions.push(String(even));
  return [...versions, newest.trim()];
}

/** @param {string} engines such as `>=20.12` @returns {string} the oldest version that it accepts, such as `20.12.0` */
const oldestOf = (engines) => partsOf(engines.replace('>=', '')).join('.');

/** @param {string} wanted such as `24`, `20.12` or `20.12.0` @param {string} version @returns {boolean} whether all parts of `wanted` are the same */
export const matches = (wanted, version) => version === wanted || version.startsWith(`${wanted}.`);

/**
 * Chooses a version that exists: the newest that has all parts wanted. If there is none, the next newer one; else the next older one
 * that is accepted.
 *
 * @param {string} wanted such as `24`, `20.12` or `20.12.0`
 * @param {string[]} available whole versions; prereleases are left out
 * @param {string} engines such as `>=20.12`
 * @returns {string | null} null: no accepted version exists
 */
export function chooseVersion(wanted, available, engines) {
  const oldest = oldestOf(engines);
  const accepted = available
    .filter((version) => /^\d+\.\d+\.\d+$/.test(version) && compare(version, oldest) >= 0)
    .sort(compare);
  const exact = accepted.findLast((version) => matches(wanted, version));
  const newer = accepted.find((version) => compare(version, wanted) > 0);
  return exact ?? newer ?? accepted.at(-1) ?? null;
}

/** @param {string} version @returns {number} */
const major = (version) => Number(partsOf(version)[0]);

/** @param {string} version missing parts are 0 @returns {[number, number, number]} */
function partsOf(version) {
  const [majorPart = 0, minor = 0, patch = 0] = version.trim().split('.').map(Number);
  return [majorPart, minor, patch];
}

/** Orders versions, the oldest first. @param {string} a @param {string} b */
function compare(a, b) {
  const [left, right] = [partsOf(a), partsOf(b)];
  return left[0] - right[0] || left[1] - right[1] || left[2] - right[2];
}
