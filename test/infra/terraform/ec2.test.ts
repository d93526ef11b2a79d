import { beforeAll, describe, expect, test } from '@jest/globals';
import { ensurePython } from '../../../infra/python/ensure.ts';
import type { Json } from '../../support/json.ts';
import { type Module, readModules, type Thing } from '../../support/terraform/modules.ts';

// Security rules for the network, the machines, the bucket and the permissions on EC2.

const INSTALLS_MS = 300_000;
const EC2 = 'infra/terraform/modules/aws-ec2';
const EVERYBODY = /0\.0\.0\.0\/0|::\/0/;

let resources: Thing[];
let data: Thing[];

beforeAll(async () => {
  const python = await ensurePython({ dataDir: process.env['DATA_DIR'] ?? '.data', onStatus: () => {} });
  const modules = await readModules(python, [EC2]);
  ({ resources, data } = modules.get(EC2) as Module);
}, INSTALLS_MS);

const all = (type: string) => resources.filter((resource) => resource.type === type);

/** @returns the body of the only resource of this type */
const only = (type: string): Record<string, Json> => {
  const found = all(type);
  expect(found).toHaveLength(1);
  return found[0]?.body ?? {};
};

describe('EC2 network', () => {
  test('Terraform for EC2: addresses 0.0.0.0/0 and ::/0: only in outgoing routes and rules', () => {
    const named = resources
      .filter(({ body }) => EVERYBODY.test(JSON.stringify(body)))
      .map(({ type }) => type);
    expect(new Set(named)).toEqual(new Set(['aws_route', 'aws_vpc_security_group_egress_rule']));
  });

  test('Terraform for EC2: incoming rules: each allows a security group, or a network whose variable refuses 0.0.0.0/0', () => {
    const rules = all('aws_vpc_security_group_ingress_rule');
    expect(rules).toHaveLength(2);
    for (const { name, body } of rules) {
      const from = body['referenced_security_group_id'] ?? body['cidr_ipv4'];
      expect([name, from]).toEqual([
        name,
        expect.stringMatching(
          /^\$\{(aws_security_group\.this\[each\.value\.from\]\.id|each\.value\.cidr)\}$/,
        ),
      ]);
      expect([name, body['ip_protocol'], body['from_port']]).toEqual([name, 'tcp', body['to_port']]);
    }
    for (const { body } of [...all('aws_security_group'), ...all('aws_default_security_group')]) {
      expect(body).not.toHaveProperty('ingress');
      expect(body).not.toHaveProperty('egress');
    }
    expect(all('aws_security_group_rule')).toEqual([]);
  });

  test('Terraform for EC2: machines: have no public address, and no SSH key', () => {
    for (const { body } of all('aws_subnet')) expect(body['map_public_ip_on_launch']).toBe(false);
    for (const { body } of all('aws_instance')) {
      expect(body).not.toHaveProperty('associate_public_ip_address');
      expect(body).not.toHaveProperty('key_name');
    }
  });
});

describe('EC2 machines', () => {
  test('Terraform for EC2: database nodes: cannot be stopped, replaced or terminated, because their disks would become empty', () => {
    const nodes = all('aws_instance').filter(({ name }) => name !== 'monitoring');
    expect(nodes.map(({ name }) => name)).toEqual(['first', 'other']);
    for (const { body } of nodes) {
      expect(body).toMatchObject({
        disable_api_termination: true,
        disable_api_stop: true,
        lifecycle: [{ prevent_destroy: true, ignore_changes: ['ami', 'user_data', 'user_data_base64'] }],
      });
    }
  });

  test('Terraform for EC2: database nodes: identical except for subnet, address and tags', () => {
    const [first, other] = ['first', 'other'].map((name) => ({
      ...all('aws_instance').find((node) => node.name === name)?.body,
    }));
    for (const body of [first, other])
      for (const key of ['subnet_id', 'private_ip', 'tags', 'for_each', 'depends_on']) delete body?.[key];
    expect(other).toEqual(first);
  });

  test('Terraform for EC2: machines: have encrypted disks, and require a token for instance metadata', () => {
    expect(all('aws_instance')).toHaveLength(3);
    for (const { body } of all('aws_instance')) {
      expect(body['metadata_options']).toMatchObject([{ http_tokens: 'required' }]);
      expect(body['root_block_device']).toMatchObject([{ encrypted: true }]);
    }
  });
});

test('Terraform for EC2: backup bucket: private, encrypted, and keeps deleted files for backup_versions_days', () => {
  expect(only('aws_s3_bucket')).toMatchObject({ lifecycle: [{ prevent_destroy: true }] });
  expect(only('aws_s3_bucket')).not.toHaveProperty('force_destroy');
  expect(only('aws_s3_bucket_public_access_block')).toMatchObject({
    block_public_acls: true,
    block_public_policy: true,
    ignore_public_acls: true,
    restrict_public_buckets: true,
  });
  expect(only('aws_s3_bucket_ownership_controls')['rule']).toMatchObject([
    { object_ownership: 'BucketOwnerEnforced' },
  ]);
  expect(only('aws_s3_bucket_versioning')['versioning_configuration']).toMatchObject([{ status: 'Enabled' }]);
  const [encryption] = only('aws_s3_bucket_server_side_encryption_configuration')['rule'];
  expect(encryption['apply_server_side_encryption_by_default']).toMatchObject([{ sse_algorithm: 'AES256' }]);
  const rules = only('aws_s3_bucket_lifecycle_configuration')['rule'];
  expect(rules).toMatchObject([
    {
      status: 'Enabled',
      noncurrent_version_expiration: [
        { noncurrent_days: expect.stringContaining('var.backup_versions_days') },
      ],
    },
    { status: 'Enabled', abort_incomplete_multipart_upload: [{ days_after_initiation: 7 }] },
  ]);
  // Only the retention of Scylla Manager removes current files. An age limit would remove files of tables that never change.
  for (const rule of rules) for (const { days } of rule['expiration'] ?? []) expect(days).toBeUndefined();
});

describe('EC2 permissions', () => {
  const statements = (): { name: string; statement: Record<string, Json> }[] =>
    data
      .filter(({ type }) => type === 'data.aws_iam_policy_document')
      .flatMap(({ name, body }) =>
        body['statement'].map((statement: Record<string, Json>) => ({ name, statement })),
      );

  test('Terraform for EC2: IAM permissions: no wildcard in actions; all resources only for actions that accept no resource', () => {
    for (const { name, statement } of statements().filter(({ statement: { effect } }) => effect !== 'Deny')) {
      for (const action of statement['actions'])
        expect([name, action]).toEqual([name, expect.not.stringContaining('*')]);
      if (name !== 'sessions' && name !== 'assume')
        expect(statement['resources'].join()).toMatch(
          /^\$\{aws_s3_bucket\.backups\.arn\}(\/\*)?$|:parameter\$\{local\.manager_agent_token\}$/,
        );
    }
    const actions = statements().find(({ name }) => name === 'sessions')?.statement['actions'];
    for (const action of actions)
      expect(action).toMatch(/^(ssm:UpdateInstanceInformation|(ssm|ec2)messages:\w+)$/);
    expect(actions).toEqual(
      expect.arrayContaining(['ssmmessages:OpenControlChannel', 'ec2messages:GetMessages']),
    );
  });

  test('Terraform for EC2: IAM permissions of database nodes: no access to old versions of backups, or to bucket settings', () => {
    const actions = statements()
      .filter(({ name }) => name === 'backups')
      .flatMap(({ statement }) => statement['actions']);
    expect(actions.filter((action: string) => /Version|^s3:Put(?!Object$)/.test(action))).toEqual([]);
  });

  test('Terraform for EC2: backup bucket: access without TLS is denied', () => {
    const [deny] = statements().filter(({ statement }) => statement['effect'] === 'Deny');
    expect(deny?.statement['condition']).toMatchObject([
      { variable: 'aws:SecureTransport', values: ['false'] },
    ]);
    expect(only('aws_s3_bucket_policy')['policy']).toContain('data.aws_iam_policy_document.only_tls.json');
  });

  test('Terraform for EC2: IAM roles: no role has a managed policy', () => {
    expect(all('aws_iam_role_policy_attachment')).toEqual([]);
  });
});
