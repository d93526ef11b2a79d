import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readSettings, SETTINGS } from '../../../common/settings/index.ts';
import { NODES } from '../../../tools/sizing/formula.ts';
import { type AppliedTerraform, applyWithStandIns } from '../../support/terraform/applied.ts';

// Terraform itself evaluates and plans infra/terraform, with stand-ins for the resources of the cloud.

const INSTALLS_MS = 300_000;
const SYSLOG_PORT = /port="(\d+)"/.exec(
  readFileSync('infra/monitoring/rsyslog/60-millrace-database.conf', 'utf8'),
)?.[1];
const HASH = `$6$saltsalt$${'x'.repeat(86)}`;
let ec2: AppliedTerraform;

beforeAll(async () => {
  ec2 = await applyWithStandIns(
    {
      region: 'us-east-1',
      zone_suffixes: ['b', 'a', 'c'],
      ami: 'ami-0123456789abcdef0',
      monitoring_ami: 'ami-0123456789abcdef0',
      superuser_salted_password: HASH,
      backup_bucket: 'millrace-backups',
      client_cidr_blocks: ['10.9.0.0/16'],
    },
    {
      'data.aws_iam_policy_document': { json: '{}' },
      'data.aws_partition': { partition: 'aws' },
      'data.aws_caller_identity': { account_id: '123456789012' },
    },
  );
}, INSTALLS_MS);

afterAll(() => ec2?.remove());

/** @returns the settings in the output `database_env` */
const envIn = (outputs: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    [...String(outputs['database_env']).matchAll(/^(\w+)=(.*)$/gm)].map((line) => line.slice(1)),
  );

/** @returns the CQL settings as the application reads them, with a password. It refuses to send the password without TLS */
const readCqlSettings = (settings: Record<string, string>, others: Record<string, string> = {}) =>
  readSettings({ ...settings, CQL_PASSWORD: 'secret', ...others }, { envFile: '' }).cql;

/** @returns the user data of a node */
const userDataOf = (input: Record<string, string>) =>
  JSON.parse(Buffer.from(String(input['user_data_base64']), 'base64').toString());

test('Terraform files: terraform fmt changes no file', async () => {
  expect(await ec2.formatted()).toEqual({ code: 0, stdout: '' });
});

test('Terraform plan for EC2: three database nodes: in three zones, with fixed addresses and the same user data', async () => {
  const nodes = (await ec2.made()).filter(({ name }) => /^aws_instance__(first|other)$/.test(name));
  expect(
    nodes.map(({ index, input }) => [index ?? '1a-0', input['subnet_id'], input['private_ip']]).sort(),
  ).toEqual([
    ['1a-0', 'aws_subnet.nodes us-east-1a', '10.20.0.10'],
    ['1b-0', 'aws_subnet.nodes us-east-1b', '10.20.16.10'],
    ['1c-0', 'aws_subnet.nodes us-east-1c', '10.20.32.10'],
  ]);
  expect(new Set(nodes.map(({ input }) => input['user_data_base64'])).size).toBe(1);
  const { scylla_yaml, post_configuration_script, ...others } = userDataOf(nodes[0]?.input ?? {});
  expect(others).toEqual({ start_scylla_on_first_boot: true, data_device: 'instance_store', raid_level: 0 });
  expect(Buffer.from(post_configuration_script, 'base64').toString()).toContain('unmask amazon-ssm-agent');
  expect(scylla_yaml).toMatchObject({
    cluster_name: 'millrace',
    endpoint_snitch: 'Ec2Snitch',
    authenticator: 'PasswordAuthenticator',
    auth_superuser_salted_password: HASH,
    seed_provider: [{ parameters: [{ seeds: '10.20.0.10' }] }],
  });
  expect(Object.keys(NODES)).toContain(nodes[0]?.input['instance_type']);
});

test('Terraform plan for EC2: incoming rules: each port is open only to the security groups that use it', async () => {
  const rules = (await ec2.made())
    .filter(({ name }) => name.startsWith('aws_vpc_security_group_ingress_rule'))
    .map(({ input }) => [
      input['referenced_security_group_id'] ?? input['cidr_ipv4'],
      input['security_group_id'],
      input['from_port'],
    ])
    .map(([from, to, port]) => `${from} -> ${to} ${port}`.replaceAll('aws_security_group.this ', ''))
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
      `monitoring -> clients ${SETTINGS['HTTP_PORT']?.fallback}`,
      `nodes -> monitoring ${SYSLOG_PORT}`,
    ].sort(),
  );
});

test('Terraform plan for EC2: outputs: contain the settings of the application, the database nodes and the backup location', async () => {
  const outputs = await ec2.outputs();
  expect(envIn(outputs)).toEqual({
    CQL_CONTACT_POINTS: '10.20.0.10:9042,10.20.16.10:9042,10.20.32.10:9042',
    CQL_LOCAL_DC: 'us-east',
    CQL_KEYSPACE: 'iot',
    CQL_USERNAME: 'millrace',
    TLS_ELSEWHERE: 'true',
  });
  expect(readCqlSettings(envIn(outputs))).toMatchObject({ username: 'millrace', tlsCa: undefined });
  expect(Object.keys(outputs['nodes'])).toEqual(['1a-0', '1b-0', '1c-0']);
  expect(outputs['instance_ids'].split(',')).toHaveLength(3);
  expect(outputs).toMatchObject({
    backup_location: 's3:aws_s3_bucket.backups',
    manager_agent_token: '/millrace/manager-agent-token',
  });
});

test('Terraform plan for EC2: other regions: data center and racks have the names that Ec2Snitch derives', async () => {
  for (const [region, datacenter, rack] of [
    ['us-west-2', 'us-west-2', '2b'],
    ['us-gov-west-1', 'us-gov-west', '1b'],
  ]) {
    const outputs = await ec2.plannedOutputs(`region=${region}`);
    expect(envIn(outputs)['CQL_LOCAL_DC']).toBe(datacenter);
    expect(outputs['nodes']?.[`${rack}-0`] ?? outputs['prometheus_targets']).toBeDefined();
  }
});

test('Terraform plan for EC2: nodes_per_zone is increased: only the new nodes are created, and no resource changes', async () => {
  const { create, 'no-op': kept, ...others } = await ec2.planned('nodes_per_zone=2');
  expect(create?.sort()).toEqual(['1a-1', '1b-1', '1c-1'].map((key) => `aws_instance__other["${key}"]`));
  expect(kept?.length).toBeGreaterThan(50);
  expect(others).toEqual({});
});

test.each([
  ['only two zones', 'zone_suffixes=["a","b"]', 'three different availability zones'],
  ['the same zone twice', 'zone_suffixes=["a","a","b"]', 'three different availability zones'],
  ['clients from 0.0.0.0/0', 'client_cidr_blocks=["0.0.0.0/0"]', 'none may be everybody'],
  ['clients from ::/0', 'client_cidr_blocks=["::/0"]', 'none may be everybody'],
  ['a network too small', 'cidr_block=10.20.0.0/24', 'from /16 to /20'],
  ['a password in place of its hash', 'superuser_salted_password=secret', 'must be a SHA-512 crypt hash'],
])('Terraform plan for EC2: variables with %s: refused', async (_, variable, message) => {
  expect(await ec2.refused(variable)).toContain(message);
});
