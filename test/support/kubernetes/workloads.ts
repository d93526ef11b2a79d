import { join } from 'node:path';
import { readSettings } from '../../../common/settings/index.ts';
import { BUILDS, type Builds } from './build.ts';
import { find, nameOf, podOf, type Resource } from './resources.ts';

interface Variable {
  name: string;
  value?: string;
  valueFrom?: { fieldRef: { fieldPath: string } };
}

/** with all resources that are applied together */
export type Workload = { where: string; workload: Resource; applied: Resource[] };

export function environmentOf(resources: Resource[], workload: Resource): Record<string, string> {
  const [container] = podOf(workload)?.spec.containers ?? [];
  const shared = (container.envFrom ?? []).map(
    ({ configMapRef }: { configMapRef: { name: string } }) =>
      find(resources, `ConfigMap/${configMapRef.name}`).data,
  );
  const direct = (container.env ?? []).map(({ name, value, valueFrom }: Variable) => [
    name,
    value ?? { 'metadata.name': `${workload.metadata.name}-0` }[String(valueFrom?.fieldRef.fieldPath)],
  ]);
  return Object.assign({}, ...shared, Object.fromEntries(direct));
}

export function secretFilesOf(workload: Resource): Map<string, { secret: string; key: string }> {
  const { containers, volumes } = podOf(workload)?.spec ?? {};
  const files: Map<string, { secret: string; key: string }> = new Map();
  for (const { name, mountPath } of containers[0].volumeMounts) {
    // Volumes of claims are not in the template.
    const volume = volumes.find((entry: { name: string }) => entry.name === name);
    for (const { secret } of volume?.projected?.sources ?? []) {
      // Optional Secrets do not come from the generator.
      if (!secret || secret.optional) continue;
      for (const { key, path } of secret.items)
        files.set(`${mountPath}/${path}`, { secret: secret.name, key });
    }
  }
  return files;
}

export function ourWorkloads({ built, secrets }: Builds): Workload[] {
  const overlays = BUILDS.filter((name) => name.startsWith('overlays/'));
  const jobs = BUILDS.filter((name) => name.startsWith('jobs/')).flatMap((name) => built.get(name) ?? []);
  return overlays.flatMap((overlay) => {
    const applied = [...(built.get(overlay) ?? []), ...jobs, ...secrets];
    return applied
      .filter((resource) => podOf(resource)?.spec.containers[0].name === 'millrace')
      .map((workload) => ({ where: `${overlay} ${nameOf(workload)}`, workload, applied }));
  });
}

export function settingsOf({ secretFiles }: Builds, { workload, applied }: Workload) {
  const mounted = secretFilesOf(workload);
  const local = (value: string) => {
    if (mounted.has(value)) return join(secretFiles, String(value.split('/').at(-1)));
    return isCertificate(workload, value) ? SOME_FILE : value;
  };
  const pairs = Object.entries(environmentOf(applied, workload)).map(([name, value]) => [name, local(value)]);
  return readSettings(Object.fromEntries(pairs), { envFile: join(secretFiles, 'none') });
}

/** Replaces certificates, because reading the settings only checks that the file exists. */
const SOME_FILE = 'package.json';

/** @returns whether certificates are mounted there */
const isCertificate = (workload: Resource, path: string): boolean =>
  containerOf(workload).volumeMounts.some(
    ({ mountPath }: { mountPath: string }) =>
      mountPath.startsWith('/etc/millrace/') && path.startsWith(`${mountPath}/`),
  );

export const containerOf = (workload: Resource) => podOf(workload)?.spec.containers[0];
