import type { Known } from './check.ts';

/** Arguments as in arguments-aws.ts, for networks and their routes. */
export const NETWORK: Record<string, Known> = {
  'data.aws_vpc': {
    sets: 'cidr_block default dhcp_options_id id region state tags',
    reads:
      'arn cidr_block_associations enable_dns_hostnames enable_dns_support enable_network_address_usage_metrics instance_tenancy ipv6_association_id ipv6_cidr_block main_route_table_id owner_id',
    blocks: {
      filter: {
        needs: 'name values',
      },
    },
  },
  aws_eip: {
    sets: 'address associate_with_private_ip customer_owned_ipv4_pool domain instance ipam_pool_id network_border_group network_interface public_ipv4_pool region tags',
    reads:
      'allocation_id arn association_id carrier_ip customer_owned_ip id private_dns private_ip ptr_record public_dns public_ip tags_all',
  },
  aws_internet_gateway: {
    sets: 'region tags vpc_id',
    reads: 'arn id owner_id tags_all',
  },
  aws_nat_gateway: {
    sets: 'allocation_id availability_mode connectivity_type private_ip region secondary_allocation_ids secondary_private_ip_address_count secondary_private_ip_addresses subnet_id tags vpc_id',
    reads:
      'association_id auto_provision_zones auto_scaling_ips id network_interface_id public_ip regional_nat_gateway_address regional_nat_gateway_auto_mode route_table_id tags_all',
  },
  aws_route: {
    needs: 'route_table_id',
    sets: 'carrier_gateway_id core_network_arn destination_cidr_block destination_ipv6_cidr_block destination_prefix_list_id egress_only_gateway_id gateway_id local_gateway_id nat_gateway_id network_interface_id region transit_gateway_id vpc_endpoint_id vpc_peering_connection_id',
    reads: 'id instance_id instance_owner_id origin state',
  },
  aws_route_table: {
    needs: 'vpc_id',
    sets: 'propagating_vgws region route tags',
    reads: 'arn id owner_id tags_all',
  },
  aws_route_table_association: {
    needs: 'route_table_id',
    sets: 'gateway_id region subnet_id',
    reads: 'id',
  },
  aws_subnet: {
    needs: 'vpc_id',
    sets: 'assign_ipv6_address_on_creation availability_zone availability_zone_id cidr_block customer_owned_ipv4_pool enable_dns64 enable_lni_at_device_index enable_resource_name_dns_a_record_on_launch enable_resource_name_dns_aaaa_record_on_launch ipv6_cidr_block ipv6_native map_customer_owned_ip_on_launch map_public_ip_on_launch outpost_arn private_dns_hostname_type_on_launch region tags',
    reads: 'arn id ipv6_cidr_block_association_id owner_id tags_all',
  },
  aws_vpc: {
    sets: 'assign_generated_ipv6_cidr_block cidr_block enable_dns_hostnames enable_dns_support enable_network_address_usage_metrics instance_tenancy ipv4_ipam_pool_id ipv4_netmask_length ipv6_cidr_block ipv6_cidr_block_network_border_group ipv6_ipam_pool_id ipv6_netmask_length region tags',
    reads:
      'arn default_network_acl_id default_route_table_id default_security_group_id dhcp_options_id id ipv6_association_id main_route_table_id owner_id tags_all',
  },
  aws_vpc_endpoint: {
    needs: 'vpc_id',
    sets: 'auto_accept ip_address_type policy private_dns_enabled region resource_configuration_arn route_table_ids security_group_ids service_name service_network_arn service_region subnet_ids tags vpc_endpoint_type',
    reads:
      'arn cidr_blocks dns_entry id network_interface_ids owner_id prefix_list_id requester_managed state tags_all',
  },
  aws_vpc_peering_connection_accepter: {
    needs: 'vpc_peering_connection_id',
    sets: 'auto_accept region tags',
    reads: 'accept_status id peer_owner_id peer_region peer_vpc_id tags_all vpc_id',
  },
};
