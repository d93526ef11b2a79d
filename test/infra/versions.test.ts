import { expect, test } from '@jest/globals';
import {
  filesWithVersions,
  pinnable,
  pinsIn,
  readVersions,
  unknownIn,
} from '../support/documents/versions.ts';

// infra/versions.env is the only table of versions. The tests check every file that repeats one.

const versions = readVersions();

/** @param value a shorter version matches every version that begins with it */
const agrees = (version: string, value: string | undefined) =>
  version === value || value?.startsWith(`${version}.`);

test('Pinned versions: every file of the repository: each version equals the version in infra/versions.env', () => {
  const others = filesWithVersions().flatMap(({ file, text }) =>
    pinsIn(text)
      .filter(({ name, version }) => !agrees(version, versions.get(name)))
      .map(({ name, version }) => `${file}: ${version}, but ${name}=${versions.get(name)}`),
  );
  expect(others).toEqual([]);
});

test('Pinned versions: images and providers: each has a version in infra/versions.env', () => {
  const unknown = filesWithVersions().flatMap(({ file, text }) =>
    unknownIn(text).map((name) => `${file}: ${name}`),
  );
  expect(unknown).toEqual([]);
});

test('Pinned versions: infra/versions.env: has the names that the check knows, with full version numbers', () => {
  expect([...versions.keys()].sort()).toEqual([...pinnable].sort());
  for (const [name, value] of versions)
    expect([name, value]).toEqual([name, expect.stringMatching(/\d+\.\d+\.\d+/)]);
});

test('Pinned versions: check of the files: finds versions in images, providers, manifests and URLs', () => {
  const found = pinsIn(`
    image: "scylladb/scylla:9.1.1"
FROM node:9.2.2-slim AS base
    image: prom/prometheus:v9.3.3
    aws = {
      source  = "hashicorp/aws"
      version = "~> 9.4"
    }
    required_version = ">= 9.5"
    variable "scylla_version" {
      type    = string
      default = "9.6.6"
    }
    https://github.com/cert-manager/cert-manager/releases/download/v9.7.7/cert-manager.yaml
---
kind: ScyllaCluster
spec:
  version: 9.8.8
  agentVersion: 9.9.9
`);
  expect(found.map(({ name, version }) => `${name}=${version}`).sort()).toEqual([
    'AWS_PROVIDER_VERSION=9.4',
    'CERT_MANAGER_VERSION=9.7.7',
    'NODE_IMAGE=node:9.2.2-slim',
    'PROMETHEUS_VERSION=9.3.3',
    'SCYLLA_MANAGER_AGENT_VERSION=9.9.9',
    'SCYLLA_VERSION=9.1.1',
    'SCYLLA_VERSION=9.6.6',
    'SCYLLA_VERSION=9.8.8',
    'TERRAFORM_VERSION=9.5',
  ]);
  expect(unknownIn('  image: redis:7.2\n source = "hashicorp/random"\n image: millrace:local')).toEqual([
    'redis',
    'hashicorp/random',
  ]);
});
