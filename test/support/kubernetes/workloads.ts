import { join } from 'node:path';
import { readSettings } from '../../../common/settings/index.js';
import { BUILDS } from './build.js';
import { find, nameOf, podOf } from './resources.js';

/** @import { Builds } from './build.js' */
/** @import { Resource } from './resources.js' */

/** @typedef {{ where: string, workload: Resource, applied: Resource[] }} Workload with all resources that are applied together */

/**
 * Returns the environment of the application's container, as its process would see it.
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
  const direct = (container.env ?? []).map((/** @type {any} */ { name, value, valueFrom }) => [
    name,
    value ?? { 'metadata.name': `${workload.metadata.name}-0` }[String(valueFrom.fieldRef.fieldPath)],
  ]);
  return Object.assign({}, ...shared, Object.fromEntries(direct));
}

/**
 * Returns the files of the generator's Secrets in the application's container, by their path in it.
 *
 * @param {Resource} workload
 * @returns {Map<string, { secret: string, key: string }>}
 */
export function secretFilesOf(workload) {
  const { containers, volumes } = podOf(workload)?.spec ?? {};
  /** @type {Map<string, { secret: string, key: string }>} */
  const files = new Map();
  for (const { name, mountPath } of containers[0].volumeMounts) {
    // Volumes of claims are not in the template.
    const volume = volumes.find((/** @type {any} */ entry) => entry.name === name);
    for (const { secret } of volume?.projected?.sources ?? []) {
      // Optional Secrets do not come from the generator.
      if (!secret || secret.optional) continue;
      for (const { key, path } of secret.items)
        files.set(`${mountPath}/${path}`, { secret: secret.name, key });
    }
  }
  return files;
}

/**
 * Returns every workload of the application, each with all resources that are applied together.
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
      .filter((resource) => podOf(resource)?.spec.containers[0].name === 'millrace')
      .map((workload) => ({ where: `${overlay} ${nameOf(workload)}`, workload, applied }));
  });
}

/**
 * Returns the settings of a process as it would read them, with the secrets of this test.
 *
 * @param {Builds} builds
 * @param {Workload} process
 */
export function settingsOf({ secretFiles }, { workload, applied }) {
  const mounted = secretFilesOf(workload);
  /** @param {string} value */
  const local = (value) => {
    if (mounted.has(value)) return join(secretFiles, String(value.split('/').at(-1)));
    return isCertificate(workload, value) ? SOME_FILE : value;
  };
  const pairs = Object.entries(environmentOf(applied, workload)).map(([name, value]) => [name, local(value)]);
  return readSettings(Object.fromEntries(pairs), { envFile: join(secretFiles, 'none') });
}

/** Replaces certificates, because reading the settings only checks that the file exists. */
const SOME_FILE = 'package.json';

/** @param {Resource} workload @param {string} path @returns {boolean} whether certificates are mounted there */
const isCertificate = (workload, path) =>
  containerOf(workload).volumeMounts.some(
    (/** @type {any} */ { mountPath }) =>
      mountPath.startsWith('/etc/millrace/') && path.startsWith(`${mountPath}/`),
  );

/** @param {Resource} workload */
export const containerOf = (workload) => podOf(workload)?.spec.containers[0];
