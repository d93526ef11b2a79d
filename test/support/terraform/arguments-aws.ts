import type { Known } from './check.ts';

/**
 * Arguments of the provider hashicorp/aws that the modules use. They come from its own schema, version 6.25.0, as the package
 * @cdktf/provider-aws 21.22.1 has it (read on 2026-11-22). That is its last version, and no argument is removed within 6.x. `needs`
 * are required, `sets` are optional, `reads` are read-only, and each key of `blocks` is a nested block. Blocks that no module uses
 * are left out.
 */
export const AWS: Record<string, Known> = {
  'data.aws_caller_identity': {
    reads: 'account_id arn id user_id',
  },
  'data.aws_ec2_instance_type': {
    needs: 'instance_type',
    sets: 'region',
    reads: 'default_vcpus id memory_size supported_architectures total_instance_storage',
  },
  'data.aws_partition': {
    reads: 'dns_suffix id partition reverse_dns_prefix',
  },
  'data.aws_iam_policy_document': {
    sets: 'override_json override_policy_documents policy_id source_json source_policy_documents version',
    reads: 'id json minified_json',
    blocks: {
      statement: {
        sets: 'actions effect not_actions not_resources resources sid',
        blocks: {
          condition: {
            needs: 'test values variable',
          },
          principals: {
            needs: 'identifiers type',
          },
        },
      },
    },
  },
  aws_default_security_group: {
    sets: 'egress ingress region revoke_rules_on_delete tags vpc_id',
    reads: 'arn description id name name_prefix owner_id tags_all',
  },
  aws_iam_instance_profile: {
    sets: 'name name_prefix path role tags',
    reads: 'arn create_date id tags_all unique_id',
  },
  aws_iam_role: {
    needs: 'assume_role_policy',
    sets: 'description force_detach_policies managed_policy_arns max_session_duration name name_prefix path permissions_boundary tags',
    reads: 'arn create_date id tags_all unique_id',
  },
  aws_iam_role_policy: {
    needs: 'policy role',
    sets: 'name name_prefix',
    reads: 'id',
  },
  aws_instance: {
    sets: 'ami associate_public_ip_address availability_zone disable_api_stop disable_api_termination ebs_optimized enable_primary_ipv6 force_destroy get_password_data hibernation host_id host_resource_group_arn iam_instance_profile instance_initiated_shutdown_behavior instance_type ipv6_address_count ipv6_addresses key_name monitoring placement_group placement_group_id placement_partition_number private_ip region secondary_private_ips security_groups source_dest_check subnet_id tags tenancy user_data user_data_base64 user_data_replace_on_change volume_tags vpc_security_group_ids',
    reads:
      'arn id instance_lifecycle instance_state outpost_arn password_data primary_network_interface_id private_dns public_dns public_ip spot_instance_request_id tags_all',
    blocks: {
      metadata_options: {
        sets: 'http_endpoint http_protocol_ipv6 http_put_response_hop_limit http_tokens instance_metadata_tags',
      },
      root_block_device: {
        sets: 'delete_on_termination encrypted iops kms_key_id tags throughput volume_size volume_type',
      },
    },
  },
  aws_security_group: {
    sets: 'description egress ingress name name_prefix region revoke_rules_on_delete tags vpc_id',
    reads: 'arn id owner_id tags_all',
  },
  aws_vpc_security_group_egress_rule: {
    needs: 'ip_protocol security_group_id',
    sets: 'cidr_ipv4 cidr_ipv6 description from_port prefix_list_id referenced_security_group_id region tags to_port',
    reads: 'arn id security_group_rule_id tags_all',
  },
  aws_vpc_security_group_ingress_rule: {
    needs: 'ip_protocol security_group_id',
    sets: 'cidr_ipv4 cidr_ipv6 description from_port prefix_list_id referenced_security_group_id region tags to_port',
    reads: 'arn id security_group_rule_id tags_all',
  },
};
