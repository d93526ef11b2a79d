import { beforeAll, describe, expect, test } from '@jest/globals';
import { ALL_SETTINGS } from '../../../api/features/index.ts';
import { ensurePython } from '../../../infra/python/ensure.ts';
import { NODES } from '../../../tools/sizing/formula.ts';
import { AWS } from '../../support/terraform/arguments-aws.ts';
import { NETWORK } from '../../support/terraform/arguments-network.ts';
import { S3 } from '../../support/terraform/arguments-s3.ts';
import { SCYLLADB_CLOUD } from '../../support/terraform/arguments-scylladbcloud.ts';
import { wrongArguments, wrongCalls, wrongReferences } from '../../support/terraform/check.ts';
import { type Module, readModules } from '../../support/terraform/modules.ts';

// These modules need a provider, and so a network. The tests read them as HCL, and check that the arguments exist and the security
// rules hold.

const INSTALLS_MS = 300_000;
const BOOTSTRAP = 'infra/terraform/modules/scylla-bootstrap';
const CLOUD = 'infra/terraform/modules/scylladb-cloud';
const EC2 = 'infra/terraform/modules/aws-ec2';
const EXAMPLES = ['infra/terraform/examples/scylladb-cloud', 'infra/terraform/examples/aws-ec2'];
const ALL = [BOOTSTRAP, CLOUD, EC2, ...EXAMPLES];
const KNOWN = { ...AWS, ...NETWORK, ...S3, ...SCYLLADB_CLOUD };

let modules: Map<string, Module>;

beforeAll(async () => {
  const python = await ensurePython({ dataDir: process.env['DATA_DIR'] ?? '.data', onStatus: () => {} });
  modules = await readModules(python, ALL);
}, INSTALLS_MS);

const moduleIn = (directory: string) => modules.get(directory) as Module;

describe.each(ALL)('Terraform: %s', (directory) => {
  test('Terraform module: arguments of resources: the provider knows each argument, and no argument is read-only', () => {
    const { resources, data } = moduleIn(directory);
    expect([...resources, ...data].flatMap((thing) => wrongArguments(thing, KNOWN))).toEqual([]);
  });

  test('Terraform module: references: every referenced resource, variable, output and module exists', () => {
    expect(wrongReferences(moduleIn(directory), KNOWN)).toEqual([]);
    expect(wrongCalls(moduleIn(directory), modules)).toEqual([]);
  });

  test('Terraform module: variables and outputs: each has a description, and each variable has a type', () => {
    const { variables, outputs } = moduleIn(directory);
    for (const [name, { type, description }] of Object.entries(variables))
      expect([name, type, description]).toEqual([name, expect.anything(), expect.any(String)]);
    for (const [name, { description }] of Object.entries(outputs))
      expect([name, description]).toEqual([name, expect.any(String)]);
  });

  test('Terraform module: variables and outputs with secrets: sensitive; the variables have no default', () => {
    const { variables, outputs } = moduleIn(directory);
    for (const [name, variable] of Object.entries(variables).filter(([name]) =>
      /password|token/.test(name),
    )) {
      expect([name, variable.sensitive, 'default' in variable]).toEqual([name, true, false]);
    }
    for (const [name, output] of Object.entries(outputs)) {
      const isSecret = /password|secrets|user_data/.test(JSON.stringify(output.value));
      expect([name, output.sensitive ?? false]).toEqual([name, isSecret]);
    }
  });

  test('Terraform module: providers: each provider has a version constraint', () => {
    const { settings, resources, data } = moduleIn(directory);
    const wanted = new Set(
      [...resources, ...data].map(({ type }) => type.replace('data.', '').split('_')[0]),
    );
    const versions = Object.assign({}, ...settings.flatMap((block) => block.required_providers ?? []));
    delete versions.__is_block__;
    expect([...wanted].filter((name) => !(String(name) in versions))).toEqual([]);
    expect(settings.some((block) => block.required_version === '>= 1.11')).toBe(true);
  });
});

test.each([
  ['node_count', 'scylladbcloud_cluster.this.node_count can be read, and not set'],
  ['replicas', 'scylladbcloud_cluster.this.replicas is no argument'],
])('Check of Terraform modules: read-only or unknown argument %s: reported', (name, problem) => {
  const thing = { type: 'scylladbcloud_cluster', name: 'this', address: 'scylladbcloud_cluster.this' };
  expect(
    wrongArguments({ ...thing, body: { name: 'millrace', region: 'us-east-1', [name]: 3 } }, KNOWN),
  ).toEqual([problem]);
});

test('Check of Terraform modules: unknown argument of a nested block: reported', () => {
  const body = { root_block_device: [{ encrypted: true, size: 8, __is_block__: true }] };
  expect(
    wrongArguments({ type: 'aws_instance', name: 'any', address: 'aws_instance.any', body }, KNOWN),
  ).toEqual(['aws_instance.any.root_block_device.size is no argument']);
});

test('Check of Terraform modules: required argument is missing: the report names the argument', () => {
  const body = { vpc_id: 'vpc-1', type: 'ingress' };
  expect(
    wrongArguments(
      {
        type: 'aws_route_table_association',
        name: 'any',
        address: 'aws_route_table_association.any',
        body: {},
      },
      KNOWN,
    ),
  ).toEqual(['aws_route_table_association.any.route_table_id is missing']);
  expect(wrongArguments({ type: 'aws_subnet', name: 'any', address: 'aws_subnet.any', body }, KNOWN)).toEqual(
    ['aws_subnet.any.type is no argument'],
  );
});

test('Check of Terraform modules: reference to a missing name, also inside brackets: reported', () => {
  const module = {
    ...moduleIn(EC2),
    text: 'a = aws_subnet.nodes[var.zoned].idd\nb = [local.none, data.aws_vpc.none.id, module.none.x]',
  };
  expect(wrongReferences(module, KNOWN).sort()).toEqual([
    'aws_subnet.nodes.idd: no such attribute',
    'data.aws_vpc.none.id: no such resource',
    'local.none: no such local value',
    'module.none.x: no such module',
    'var.zoned: no such variable',
  ]);
});

describe('Terraform outputs', () => {
  test.each([BOOTSTRAP, CLOUD])('Terraform outputs of %s: each is a known Millrace setting', (directory) => {
    const names = Object.keys(moduleIn(directory).outputs['settings'].value).sort();
    expect(names).toEqual([
      'CQL_CONTACT_POINTS',
      'CQL_KEYSPACE',
      'CQL_LOCAL_DC',
      'CQL_USERNAME',
      'TLS_ELSEWHERE',
    ]);
    for (const name of names) expect(ALL_SETTINGS[name]?.secret ?? false).toBe(false);
    for (const name of names) expect(ALL_SETTINGS).toHaveProperty(name);
  });

  test('Terraform outputs: secrets and files: the application has a setting that reads each output from a file', () => {
    const secrets = moduleIn(CLOUD).outputs['secrets'].value;
    expect(Object.keys(secrets)).toEqual(['CQL_PASSWORD']);
    for (const name of Object.keys(secrets)) expect(ALL_SETTINGS[name]?.secret).toBe(true);
    const files = moduleIn(CLOUD).outputs['files'].value;
    expect(Object.keys(files)).toEqual(['CQL_TLS_CA']);
    for (const name of Object.keys(files)) expect(ALL_SETTINGS[name]?.help).toMatch(/^PEM file/);
  });
});

test.each(EXAMPLES)(
  'Terraform %s: state: in an S3 bucket, encrypted and locked; the user names the bucket at terraform init',
  (directory) => {
    const backends = moduleIn(directory).settings.flatMap((block) => block['backend'] ?? []);
    const { s3 } = Object.assign({}, ...backends);
    const { __is_block__, ...settings } = s3;
    expect(settings).toEqual({ key: expect.stringMatching(/\.tfstate$/), encrypt: true, use_lockfile: true });
  },
);

test.each(EXAMPLES)('Terraform %s: default node type: npm run size knows the type', (directory) => {
  const { node_type, instance_type } = moduleIn(directory).variables;
  expect(Object.keys(NODES)).toContain((node_type ?? instance_type).default);
});

test('Terraform for ScyllaDB Cloud: cluster: has the CQL interface, and is protected against replacement', () => {
  const cluster = moduleIn(CLOUD).resources.find(({ type }) => type === 'scylladbcloud_cluster');
  expect(cluster?.body).toMatchObject({ user_api_interface: 'CQL', lifecycle: [{ prevent_destroy: true }] });
});
