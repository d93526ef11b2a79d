import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SETTINGS } from '../../../common/settings/index.ts';
import { type AppliedModule, applyWithStandIns } from '../../support/terraform/applied-module.ts';
import { CA, readCqlSettings } from '../../support/terraform/cql-settings.ts';

// Terraform itself evaluates and plans the module for EC2, with stand-ins for the resources of the cloud.

const INSTALLS_MS = 300_000;
const SYSLOG_PORT = /port="(\d+)"/.exec(
  readFileSync('infra/monitoring/rsyslog/60-millrace-database.conf', 'utf8'),
)?.[1];
const HASH = `$6$saltsalt$${'x'.repeat(86)}`;

let ec2: AppliedModule;

beforeAll(async () => {
  ec2 = await applyWithStandIns('aws-ec2', {
    variables: {
      name: 'millrace',
      zones: ['us-east-1b', 'us-east-1a', 'us-east-1c'],
      ami: 'ami-0123456789abcdef0',
      monitoring_ami: 'ami-0123456789abcdef0',
      superuser_salted_password: HASH,
      backup_bucket: 'millrace-backups',
      client_cidr_blocks: ['10.9.0.0/16'],
    },
    answers: {
      'data.aws_ec2_instance_type': { default_vcpus: 8, total_instance_storage: 1875 },
      'data.aws_iam_policy_document': { json: '{}' },
      'data.aws_partition': { partition: 'aws' },
      'data.aws_caller_identity': { account_id: '123456789012' },
    },
  });
}, INSTALLS_MS);

afterAll(() => ec2?.remove());

test('Terraform plan for EC2: three database nodes: in three zones, with fixed addresses and the same user data', async () => {
  const nodes = (await ec2.made()).filter(({ name }) => /^aws_instance__(first|other)$/.test(name));
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

test('Terraform plan for EC2: IAM permissions: only database nodes may read the agent token and write backups', async () => {
  const made = await ec2.made();
  const policies = made.filter(({ name }) => name.startsWith('aws_iam_role_policy'));
  expect(
    policies.map(({ input }) => `${input['role']}: ${input['name']}`.split(' ').slice(1).join(' ')).sort(),
  ).toEqual(['monitoring: sessions', 'node: agent-token', 'node: backups', 'node: sessions']);
  const machines = made.filter(({ name }) => name.startsWith('aws_instance'));
  expect(machines.map(({ name, input }) => `${name} ${input['iam_instance_profile']}`).sort()).toEqual([
    'aws_instance__first millrace-node',
    'aws_instance__monitoring millrace-monitoring',
    'aws_instance__other millrace-node',
    'aws_instance__other millrace-node',
  ]);
});

test('Terraform plan for EC2: outputs: contain the settings of the application, the database nodes and the backup location', async () => {
  const outputs = await ec2.outputs();
  expect(outputs['settings']).toEqual({
    CQL_CONTACT_POINTS: '10.20.0.10:9042,10.20.16.10:9042,10.20.32.10:9042',
    CQL_LOCAL_DC: 'us-east',
    CQL_KEYSPACE: 'iot',
    CQL_USERNAME: 'millrace',
    TLS_ELSEWHERE: 'true',
  });
  expect(readCqlSettings(outputs['settings'])).toMatchObject({ username: 'millrace', tlsCa: undefined });
  expect(Object.keys(outputs['nodes'])).toEqual(['1a-0', '1b-0', '1c-0']);
  for (const node of Object.values<{ instance_id: string }>(outputs['nodes'])) {
    expect(node.instance_id).toEqual(expect.any(String));
  }
  expect(outputs['backup_location']).toBe('s3:aws_s3_bucket.backups');
  expect(outputs['manager_agent_token']).toBe('/millrace/manager-agent-token');
  expect(outputs['license']).toEqual({ vcpus: 24, storage_tb: 5.625, of: 'free' });
});

test('Terraform plan for EC2: nodes with TLS: contact points have the TLS port; settings without CQL_TLS_CA are refused', async () => {
  const encrypted = { client_encryption_options: { enabled: true }, native_transport_port_ssl: 9142 };
  const { settings } = await ec2.plannedOutputs(`scylla_yaml=${JSON.stringify(encrypted)}`);
  expect(settings['CQL_CONTACT_POINTS']).toBe('10.20.0.10:9142,10.20.16.10:9142,10.20.32.10:9142');
  expect(readCqlSettings(settings, { CQL_TLS_CA: CA })).toMatchObject({ tlsCa: CA });
  expect(() => readCqlSettings(settings)).toThrow('CQL_TLS_CA must be set');
});

test('Terraform plan for EC2: nodes_per_zone is increased: only the new nodes are created, and no resource changes', async () => {
  const { create, 'no-op': kept, ...others } = await ec2.planned('nodes_per_zone=2', 'license=commercial');
  expect(create?.sort()).toEqual(['1a-1', '1b-1', '1c-1'].map((key) => `aws_instance__other["${key}"]`));
  expect(kept?.length).toBeGreaterThan(50);
  expect(others).toEqual({});
});

test('Terraform plan for EC2: more disk than the free tier of ScyllaDB: the plan fails', async () => {
  expect(await ec2.refused('nodes_per_zone=2')).toContain(
    "11.25 TB of disk are more than the 10 TB of ScyllaDB's free tier",
  );
});
