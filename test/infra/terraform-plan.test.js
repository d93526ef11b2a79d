import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ensurePython, readHcl } from '../../infra/python/ensure.js';
import { offlineTerraform } from '../support/terraform/offline.js';
import { withStandIns } from '../support/terraform/stand-ins.js';

// The whole of aws-ec2 as Terraform itself computes and plans it, with stand-ins for what only AWS can make.

const INSTALLS_MS = 300_000;
const MODULES = 'infra/terraform/modules';
const HASH = `$6$saltsalt$${'x'.repeat(86)}`;

const VARIABLES = {
  name: 'millrace',
  zones: ['us-east-1b', 'us-east-1a', 'us-east-1c'],
  ami: 'ami-0123456789abcdef0',
  monitoring_ami: 'ami-0123456789abcdef0',
  superuser_salted_password: HASH,
  backup_bucket: 'millrace-backups',
  client_cidr_blocks: ['10.9.0.0/16'],
};
const ANSWERS = {
  'data.aws_ec2_instance_type': { default_vcpus: 8, total_instance_storage: 1875 },
  'data.aws_iam_policy_document': { json: '{}' },
};

/** @type {import('../support/terraform/offline.js').Terraform} */
let terraform;
/** @type {string} */
let root;
/** @type {string} */
let directory;

beforeAll(async () => {
  terraform = await offlineTerraform();
  const python = await ensurePython({ dataDir: process.env['DATA_DIR'] ?? '.data', onStatus: () => {} });
  root = mkdtempSync(join(tmpdir(), 'millrace-plan-'));
  directory = join(root, 'aws-ec2');
  mkdirSync(directory);
  cpSync(join(MODULES, 'scylla-bootstrap'), join(root, 'scylla-bootstrap'), { recursive: true });
  const files = readdirSync(join(MODULES, 'aws-ec2')).filter(
    (file) => file.endsWith('.tf') && file !== 'versions.tf',
  );
  const read = await readHcl(
    python,
    files.map((file) => join(MODULES, 'aws-ec2', file)),
  );
  writeFileSync(join(directory, 'main.tf.json'), JSON.stringify(withStandIns(read, ANSWERS)));
  writeFileSync(join(directory, 'terraform.tfvars.json'), JSON.stringify(VARIABLES));
  await run('init', '-backend=false');
  await run('apply', '-auto-approve');
}, INSTALLS_MS);

afterAll(() => {
  terraform?.remove();
  rmSync(root, { recursive: true, force: true });
});

/** @param {string} command @param {string[]} args @returns {Promise<string>} */
async function run(command, ...args) {
  const inputs = command === 'show' || command === 'output' ? [] : ['-input=false'];
  const { code, stdout, stderr } = await terraform.run(directory, command, '-no-color', ...inputs, ...args);
  expect({ code, said: code === 0 ? '' : stdout + stderr }).toEqual({ code: 0, said: '' });
  return stdout;
}

/** @returns {Promise<{ name: string, index?: string, input: Record<string, any> }[]>} what was made */
async function made() {
  const { values } = JSON.parse(await run('show', '-json'));
  return values.root_module.resources.map((/** @type {any} */ one) => ({
    name: one.name,
    index: one.index,
    input: one.values.output,
  }));
}

/** @param {string[]} variables @returns {Promise<Record<string, string[]>>} what would be done, by action */
async function planned(...variables) {
  await run('plan', '-out=plan', ...variables.map((variable) => `-var=${variable}`));
  const { resource_changes } = JSON.parse(await run('show', '-json', 'plan'));
  /** @type {Record<string, string[]>} */
  const byAction = {};
  for (const { address, change } of resource_changes) {
    byAction[change.actions.join()] ??= [];
    byAction[change.actions.join()]?.push(address.replace('terraform_data.', ''));
  }
  return byAction;
}

test('three nodes stand in three zones, at addresses of their own, and read the same on their first boot', async () => {
  const nodes = (await made()).filter(({ name }) => /^aws_instance__(first|other)$/.test(name));
  expect(
    nodes.map(({ index, input }) => [index ?? '1a-0', input['subnet_id'], input['private_ip']]).sort(),
  ).toEqual([
    ['1a-0', 'aws_subnet.nodes us-east-1a', '10.20.0.10'],
    ['1b-0', 'aws_subnet.nodes us-east-1b', '10.20.16.10'],
    ['1c-0', 'aws_subnet.nodes us-east-1c', '10.20.32.10'],
  ]);
  const [userData, ...others] = new Set(nodes.map(({ input }) => input['user_data_base64']));
  expect(others).toEqual([]);
  const { scylla_yaml } = JSON.parse(Buffer.from(userData, 'base64').toString());
  expect(scylla_yaml).toMatchObject({ cluster_name: 'millrace', auth_superuser_salted_password: HASH });
  expect(scylla_yaml.seed_provider[0].parameters).toEqual([{ seeds: '10.20.0.10' }]);
});

test('each port is open to whom it is for, and to nobody else', async () => {
  const rules = (await made())
    .filter(({ name }) => name.startsWith('aws_vpc_security_group_ingress_rule'))
    .map(({ input }) => [
      input['referenced_security_group_id'] ?? input['cidr_ipv4'],
      input['security_group_id'],
      input['from_port'],
    ])
    .map(([from, to, port]) => `${from} -> ${to} ${port}`.replaceAll('aws_security_group.', ''))
    .sort();
  expect(rules).toEqual(
    [
      ...[9042, 9142, 19042, 19142].flatMap((port) => [
        `10.9.0.0/16 -> nodes ${port}`,
        `clients -> nodes ${port}`,
        `monitoring -> nodes ${port}`,
      ]),
      ...[9100, 9180, 10001].map((port) => `monitoring -> nodes ${port}`),
      ...[7000, 7001].map((port) => `nodes -> nodes ${port}`),
      'monitoring -> clients 8080',
      'nodes -> monitoring 6514',
    ].sort(),
  );
});

test('what is put out is what the application and its operators need', async () => {
  const outputs = JSON.parse(await run('output', '-json'));
  expect(outputs.settings.value).toEqual({
    CQL_CONTACT_POINTS: '10.20.0.10,10.20.16.10,10.20.32.10',
    CQL_LOCAL_DC: 'us-east',
    CQL_KEYSPACE: 'iot',
  });
  expect(Object.keys(outputs.nodes.value)).toEqual(['1a-0', '1b-0', '1c-0']);
  for (const node of Object.values(outputs.nodes.value)) expect(node.instance_id).toEqual(expect.any(String));
  expect(outputs.backup_location.value).toBe('s3:aws_s3_bucket.backups');
  expect(outputs.licence.value).toEqual({ vcpus: 24, storage_tb: 5.625, of: 'free' });
});

test('more nodes are added, and nothing that is there is touched', async () => {
  const { create, 'no-op': kept, ...others } = await planned('nodes_per_zone=2', 'licence=commercial');
  expect(create?.sort()).toEqual(['1a-1', '1b-1', '1c-1'].map((key) => `aws_instance__other["${key}"]`));
  expect(kept?.length).toBeGreaterThan(50);
  expect(others).toEqual({});
});

test('more than is free is refused by the plan', async () => {
  const { code, stdout, stderr } = await terraform.run(
    directory,
    'plan',
    '-no-color',
    '-input=false',
    '-var=nodes_per_zone=2',
  );
  expect(code).toBe(1);
  expect((stdout + stderr).replace(/\s+/g, ' ')).toContain(
    "11.25 TB of disk are more than the 10 TB of ScyllaDB's free tier",
  );
});
