import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

/** Files that may contain versions: all except tests, generated files, and the table itself. */
const READ = /(^|\/)(Dockerfile|[^/]+\.(ya?ml|tf|tfvars|hcl|sh|md|js|xml|example))$/;
const NOT_READ = /^(test|docs\/images|infra\/monitoring\/grafana\/dashboards|infra\/python)\/|^CONTRIBUTING/;

const VERSION = String.raw`v?(\d[\w.+-]*\w)`;
/** A constraint in HCL, such as `>= 1.11`. A shorter version matches every version that begins with it. */
const CONSTRAINT = String.raw`"[~>=\s]*(\d[\w.]*)"`;

const image = (name: string) => new RegExp(String.raw`(?<![\w/-])${name}:${VERSION}`, 'g');

const provider = (source: string) => [
  new RegExp(String.raw`source\s*=\s*"${source}"\s+version\s*=\s*${CONSTRAINT}`, 'g'),
  new RegExp(String.raw`version\s*=\s*${CONSTRAINT}\s+source\s*=\s*"${source}"`, 'g'),
];

const release = (project: string) => new RegExp(String.raw`\b${project}/[\w/.-]*?v(\d+\.\d+\.\d+)`, 'g');

const field = (key: string) => new RegExp(String.raw`\b${key}:\s*["']?${VERSION}`, 'g');

const ofKind = (kind: string, key: string) =>
  new RegExp(String.raw`^kind: ${kind}\n(?:(?!^---)[^\n]*\n)*?\s+${key}: ["']?${VERSION}`, 'gm');

const PINS: Record<string, RegExp[]> = {
  SCYLLA_VERSION: [image('scylladb/scylla'), ofKind('ScyllaCluster', 'version')],
  CASSANDRA_VERSION: [
    image('cassandra'),
    /<artifactId>cassandra-all<\/artifactId>(?:\s|<!--.*-->)*<version>([^<]+)/g,
  ],
  SCYLLA_MANAGER_VERSION: [image('scylladb/scylla-manager')],
  SCYLLA_MANAGER_AGENT_VERSION: [
    image('scylladb/scylla-manager-agent'),
    ofKind('ScyllaCluster', 'agentVersion'),
  ],
  MEDUSA_VERSION: [/\bcassandra-medusa(?:\[\w+\])?==([\d.]+\d)/g],
  MOSQUITTO_VERSION: [image('eclipse-mosquitto')],
  NODE_IMAGE: [/(?<![\w/-])(node:\d[\w.-]*\w)/g],
  PROMETHEUS_VERSION: [image('prom/prometheus')],
  ALERTMANAGER_VERSION: [image('prom/alertmanager')],
  GRAFANA_VERSION: [image('grafana/grafana')],
  LOKI_VERSION: [image('grafana/loki')],
  KAFKA_VERSION: [
    image('apache/kafka'),
    /<artifactId>kafka_2\.13<\/artifactId>\s*<version>([\d.]+)<\/version>/g,
  ],
  JANUSGRAPH_VERSION: [
    image('janusgraph/janusgraph'),
    /<artifactId>janusgraph-\w+<\/artifactId>\s*<version>([\d.]+)<\/version>/g,
  ],
  REDPANDA_CONSOLE_VERSION: [image('redpandadata/console')],
  ALLOY_VERSION: [image('grafana/alloy')],
  TELEGRAF_VERSION: [image('telegraf')],
  TERRAFORM_VERSION: [
    new RegExp(String.raw`\brequired_version\s*=\s*${CONSTRAINT}`, 'g'),
    field('terraform_version'),
  ],
  AWS_PROVIDER_VERSION: provider('hashicorp/aws'),
  KUBERNETES_VERSION: [image('kindest/node'), /setup-kubectl@\S+\s(?:.*\n)*?\s+version: v([\d.]+\d)/g],
  SCYLLA_OPERATOR_VERSION: [image('scylladb/scylla-operator'), release('scylla-operator')],
  CERT_MANAGER_VERSION: [release('cert-manager')],
};

function readVersions(): Map<string, string> {
  const lines = readFileSync('infra/versions.env', 'utf8').matchAll(/^([A-Z_]+)=(\S+)$/gm);
  return new Map([...lines].map(([, name, value]) => [String(name), String(value)]));
}

const pinnable = Object.keys(PINS);

/** @returns the repository's files that may name versions */
function filesWithVersions(): { file: string; text: string }[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  return execFileSync('git', args, { encoding: 'utf8' })
    .split('\0')
    .filter((file) => READ.test(file) && !NOT_READ.test(file) && existsSync(file))
    .map((file) => ({ file, text: readFileSync(file, 'utf8') }));
}

const pinsIn = (text: string): { name: string; version: string }[] =>
  Object.entries(PINS).flatMap(([name, patterns]) =>
    patterns.flatMap((pattern) =>
      [...text.matchAll(pattern)].map((match) => ({ name, version: String(match[1]) })),
    ),
  );

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

test('Pinned versions: infra/versions.env: has the names that the check knows, with full version numbers', () => {
  expect([...versions.keys()].sort()).toEqual([...pinnable].sort());
  for (const [name, value] of versions)
    expect([name, value]).toEqual([name, expect.stringMatching(/\d+\.\d+\.\d+/)]);
});
