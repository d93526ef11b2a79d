import { join } from 'node:path';
import { readSettings } from '../../../common/settings/index.js';
import { BUILDS } from './build.js';
import { find, nameOf, podOf } from './resources.js';

/** @import { Builds } from './build.js' */
/** @import { Resource } from './resources.js' */

/** @typedef {{ where: string, workload: Resource, applied: Resource[] }} Workload with all resources that are applied together */

/**
 * The environment of our container, as its process would see it.
 *
 * @param {Resource[]} resources
 * @param {Resource} workload
 * @returns {Record<string, string>}
 */
export function environmentOf(resources, workload) {
  const [container] = podOf(workload)?.spec.containers ?? [];
  const shared = (container.envFrom ?? []).map(
    (/** @type {any} */ { configMapRef }) => find(resources, `ConfigMap/${configMapRef.name}`).data,
  );
  const own = (container.env ?? []).map((/** @type {any} */ { name, value, valueFrom }) => [
    name,
    value ?? { 'metadata.name': `${workload.metadata.name}-0` }[String(valueFrom.fieldRef.fieldPath)],
  ]);
  return Object.assign({}, ...shared, Object.fromEntries(own));
}

/**
 * Files of the generator's Secrets that our container sees, by their path in it.
 *
 * @param {Resource} workload
 * @returns {Map<string, { secret: string, key: string }>}
 */
export function secretFilesOf(workload) {
  const { containers, volumes } = podOf(workload)?.spec ?? {};
  /** @type {Map<string, { secret: string, key: string }>} */
  const files = new Map();
  for (const { name, mountPath } of containers[0].volumeMounts) {
    // Claims are no volumes of the template.
    const volume = volumes.find((/** @type {any} */ one) => one.name === name);
    for (const { secret } of volume?.projected?.sources ?? []) {
      // What is optional comes from elsewhere, or not at all.
      if (!secret || secret.optional) continue;
      for (const { key, path } of secret.items)
        files.set(`${mountPath}/${path}`, { secret: secret.name, key });
    }
  }
  return files;
}

/**
 * Every pod that is ours, each with all resources that are applied together.
 *
 * @param {Builds} builds
 * @returns {Workload[]}
 */
export function ourWorkloads({ built, secrets }) {
  const overlays = BUILDS.filter((name) => name.startsWith('overlays/'));
  const jobs = BUILDS.filter((name) => name.startsWith('jobs/')).flatMap((name) => built.get(name) ?? []);
  return overlays.flatMap((overlay) => {
    const applied = [...(built.get(overlay) ?? []), ...jobs, ...secrets];
    return applied
      .filter((one) => podOf(one)?.spec.containers[0].name === 'millrace')
      .map((workload) => ({ where: `${overlay} ${nameOf(workload)}`, workload, applied }));
  });
}

/**
 * The settings of a process as it would read them, with the secrets that were made for this test.
 *
 * @param {Builds} builds
 * @param {Workload} process
 */
export function settingsOf({ secretFiles }, { workload, applied }) {
  const mounted = secretFilesOf(workload);
  /** @param {string} value */
  const here = (value) => {
    if (mounted.has(value)) return join(secretFiles, String(value.split('/').at(-1)));
    return isCertificate(workload, value) ? SOME_FILE : value;
  };
  const given = Object.entries(environmentOf(applied, workload)).map(([name, value]) => [name, here(value)]);
  return readSettings(Object.fromEntries(given), { envFile: join(secretFiles, 'none') });
}

/** In the place of a certificate, which settings only look for. */
const SOME_FILE = 'package.json';

/** @param {Resource} workload @param {string} path @returns {boolean} whether it is where certificates are mounted */
const isCertificate = (workload, path) =>
  containerOf(workload).volumeMounts.some(
    (/** @type {any} */ { mountPath }) =>
      mountPath.startsWith('/etc/millrace/') && path.startsWith(`${mountPath}/`),
  );

/** @param {Resource} workload */
export const containerOf = (workload) => podOf(workload)?.spec.containers[0];
