/**
 * Arguments of what the modules use of the provider hashicorp/aws, from its own documentation: hashicorp/terraform-provider-aws,
 * `website/docs/r/NAME.html.markdown` (`d/` for data), read on 2026-11-22. Pages are of several days; where one was older than
 * 6.0 only what newer pages repeat is in here. A key of `blocks` is a nested block with arguments of its own; `reads` can be read and not set.
 *
 * @type {Record<string, import('./check.js').Known>}
 */
export const AWS = {
  'data.aws_caller_identity': { sets: '', reads: 'account_id arn user_id' },
  'data.aws_ec2_instance_type': {
    sets: 'instance_type',
    reads: 'default_vcpus total_instance_storage memory_size supported_architectures',
  },
  'data.aws_iam_policy_document': {
    sets: 'policy_id source_policy_documents override_policy_documents version',
    reads: 'json minified_json',
    blocks: {
      statement: {
        sets: 'sid effect actions not_actions resources not_resources',
        blocks: {
          principals: { sets: 'type identifiers' },
          not_principals: { sets: 'type identifiers' },
          condition: { sets: 'test variable values' },
        },
      },
    },
  },
  'data.aws_vpc': { sets: 'id cidr_block default state tags', reads: 'arn main_route_table_id owner_id' },
  aws_default_security_group: { sets: 'vpc_id tags egress ingress', reads: 'arn id name owner_id tags_all' },
  aws_eip: {
    sets: 'address associate_with_private_ip domain instance network_border_group network_interface public_ipv4_pool tags',
    reads: 'allocation_id association_id id private_ip public_ip tags_all',
  },
  aws_iam_instance_profile: {
    sets: 'name name_prefix path role tags',
    reads: 'arn create_date id tags_all unique_id',
  },
  aws_iam_role: {
    sets: 'assume_role_policy description force_detach_policies max_session_duration name name_prefix path permissions_boundary tags',
    reads: 'arn create_date id tags_all unique_id',
  },
  aws_iam_role_policy: { sets: 'name name_prefix policy role', reads: 'id' },
  aws_instance: {
    sets: 'ami associate_public_ip_address availability_zone disable_api_stop disable_api_termination ebs_optimized force_destroy iam_instance_profile instance_initiated_shutdown_behavior instance_type key_name monitoring placement_group private_ip source_dest_check subnet_id tags tenancy user_data user_data_base64 user_data_replace_on_change volume_tags vpc_security_group_ids',
    reads: 'arn id instance_state primary_network_interface_id private_dns public_dns public_ip tags_all',
    blocks: {
      metadata_options: {
        sets: 'http_endpoint http_protocol_ipv6 http_put_response_hop_limit http_tokens instance_metadata_tags',
      },
      root_block_device: {
        sets: 'delete_on_termination encrypted iops kms_key_id tags throughput volume_size volume_type',
      },
    },
  },
  aws_internet_gateway: { sets: 'vpc_id tags', reads: 'arn id owner_id tags_all' },
  aws_nat_gateway: {
    sets: 'allocation_id availability_mode connectivity_type private_ip subnet_id secondary_allocation_ids secondary_private_ip_addresses tags',
    reads: 'association_id id network_interface_id public_ip tags_all',
  },
  aws_route: {
    sets: 'region route_table_id destination_cidr_block destination_ipv6_cidr_block destination_prefix_list_id egress_only_gateway_id gateway_id nat_gateway_id network_interface_id transit_gateway_id vpc_endpoint_id vpc_peering_connection_id',
    reads: 'id instance_id instance_owner_id origin state',
  },
  aws_route_table: { sets: 'vpc_id tags propagating_vgws route', reads: 'arn id owner_id tags_all' },
  aws_route_table_association: { sets: 'region subnet_id gateway_id route_table_id', reads: 'id' },
  aws_security_group: {
    sets: 'description egress ingress name name_prefix revoke_rules_on_delete tags vpc_id',
    reads: 'arn id owner_id tags_all',
  },
  aws_subnet: {
    sets: 'availability_zone availability_zone_id cidr_block ipv6_cidr_block map_public_ip_on_launch assign_ipv6_address_on_creation vpc_id tags',
    reads: 'arn id ipv6_cidr_block_association_id owner_id tags_all',
  },
  aws_vpc: {
    sets: 'cidr_block instance_tenancy enable_dns_support enable_dns_hostnames assign_generated_ipv6_cidr_block tags',
    reads:
      'arn id main_route_table_id default_network_acl_id default_security_group_id default_route_table_id ipv6_cidr_block owner_id tags_all',
  },
  aws_vpc_endpoint: {
    sets: 'service_name vpc_id auto_accept policy private_dns_enabled ip_address_type route_table_ids subnet_ids security_group_ids tags vpc_endpoint_type',
    reads: 'arn id cidr_blocks dns_entry network_interface_ids owner_id prefix_list_id state tags_all',
  },
  aws_vpc_peering_connection_accepter: {
    sets: 'vpc_peering_connection_id auto_accept tags',
    reads: 'id accept_status vpc_id peer_vpc_id peer_owner_id peer_region tags_all',
  },
  aws_vpc_security_group_egress_rule: {
    sets: 'cidr_ipv4 cidr_ipv6 description from_port ip_protocol prefix_list_id referenced_security_group_id security_group_id tags to_port',
    reads: 'arn security_group_rule_id tags_all',
  },
  aws_vpc_security_group_ingress_rule: {
    sets: 'cidr_ipv4 cidr_ipv6 description from_port ip_protocol prefix_list_id referenced_security_group_id security_group_id tags to_port',
    reads: 'arn security_group_rule_id tags_all',
  },
};
