import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { MAX_CONCURRENT_IMPORTS } from '../../../api/features/import/index.ts';
import { IMPORT_SETTINGS } from '../../../api/features/import/settings.ts';
import { readSettings } from '../../../common/settings/index.ts';
import { useStarted } from '../../support/clean-ups.ts';
import { INSTALLS_MS, interpolate, loadCompose } from '../../support/compose/index.ts';
import { useBuilds } from '../../support/kubernetes/build.ts';
import { podOf, type Resource } from '../../support/kubernetes/resources.ts';
import { containerOf, ourWorkloads, settingsOf } from '../../support/kubernetes/workloads.ts';

const stack = useStarted(loadCompose, ({ remove }) => remove(), INSTALLS_MS);
const builds = useBuilds();

test.each(['api', 'https'])(
  'Compose service %s: concurrent imports: fit in the tmpfs of DATA_DIR',
  (name) => {
    const { environment, tmpfs, mem_limit: memory } = stack.compose.services[name];
    const { DATA_DIR = '', IMPORT_MAX_BYTES = '' } = environment;
    const { maxBytes } = readSettings(
      { IMPORT_MAX_BYTES: interpolate(IMPORT_MAX_BYTES) },
      { envFile: join(stack.secrets, 'none') },
    ).of(IMPORT_SETTINGS);
    const [, path = '', size = ''] = /^(.*):size=(.*)$/.exec(tmpfs.join()) ?? [];
    expect(interpolate(DATA_DIR).startsWith(`${path}/`)).toBe(true);
    expect(bytesOf(size)).toBeGreaterThan(MAX_CONCURRENT_IMPORTS * maxBytes);
    // The process needs the rest.
    expect(bytesOf(size)).toBeLessThan(bytesOf(memory) / 3);
  },
);

function bytesOf(size: string): number {
  const [, count, unit] = /^(\d+)([mg])$/.exec(size) ?? [];
  return Number(count) * (unit === 'g' ? 1024 : 1) * 1_048_576;
}

test('Kubernetes: concurrent imports of maximum size: the volume below DATA_DIR has space for all', () => {
  expect(readFileSync('Dockerfile', 'utf8')).toContain('\nENV DATA_DIR=/tmp/');
  const readers = ourWorkloads(builds).filter(({ workload }) => workload.metadata.name === 'millrace-http');
  expect(readers).not.toEqual([]);
  for (const entry of readers) {
    const mount = containerOf(entry.workload).volumeMounts.find(
      ({ mountPath }: { mountPath: string }) => mountPath === '/tmp',
    );
    const { emptyDir } = (podOf(entry.workload) as Resource).spec.volumes.find(
      ({ name }: { name: string }) => name === mount.name,
    );
    const [, count] = /^(\d+)Mi$/.exec(emptyDir.sizeLimit) ?? [];
    const uploads = MAX_CONCURRENT_IMPORTS * settingsOf(builds, entry).of(IMPORT_SETTINGS).maxBytes;
    expect(Number(count) * 1_048_576).toBeGreaterThan(uploads);
  }
});
