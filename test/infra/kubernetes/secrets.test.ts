import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { ALL_SETTINGS } from '../../../api/features/index.ts';
import { useBuilds } from '../../support/kubernetes/build.ts';
import { find } from '../../support/kubernetes/resources.ts';
import {
  containerOf,
  environmentOf,
  ourWorkloads,
  secretFilesOf,
} from '../../support/kubernetes/workloads.ts';

// Each process has the secrets that it reads, as files, and no others.

const builds = useBuilds();
let workloads: ReturnType<typeof ourWorkloads>;
beforeAll(() => {
  workloads = ourWorkloads(builds);
});

test('Kubernetes: secrets of the processes: mounted as files from existing Secrets, and never in the environment', () => {
  for (const { where, workload, applied } of workloads) {
    const mounted = secretFilesOf(workload);
    for (const { secret, key } of mounted.values())
      expect([where, find(applied, `Secret/${secret}`).data]).toEqual([
        where,
        expect.objectContaining({ [key]: expect.any(String) }),
      ]);
    const environment = environmentOf(applied, workload);
    for (const [name, value] of Object.entries(environment)) {
      expect([where, name, ALL_SETTINGS[name]?.secret ?? false]).toEqual([where, name, false]);
      if (name.endsWith('_FILE'))
        expect([where, [...mounted.keys()]]).toEqual([where, expect.arrayContaining([value])]);
    }
    // The process reads every mounted secret.
    const read = [
      ...Object.values(environment),
      ...containerOf(workload).command.map((word: string) => word.replace(/^.*=/, '')),
    ];
    expect([where, [...mounted.keys()].filter((file) => !read.includes(file))]).toEqual([where, []]);
  }
});

test('Kubernetes secrets: kustomize generator: puts every file that make.sh writes into a Secret', () => {
  const made = builds.secrets.flatMap(({ data }) => Object.values(data));
  for (const name of readdirSync(builds.secretFiles)) {
    const text = readFileSync(join(builds.secretFiles, name), 'utf8');
    expect([name, made.includes(text) || made.includes(Buffer.from(text).toString('base64'))]).toEqual([
      name,
      true,
    ]);
  }
});
