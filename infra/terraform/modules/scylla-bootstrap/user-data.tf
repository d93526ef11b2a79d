# User data in JSON that ScyllaDB's image reads on its first boot (scylla-machine-image, common/scylla_configure.py). The image
# itself sets the addresses, rpc_address and other defaults.
locals {
  scylla_yaml = merge(var.scylla_yaml, {
    cluster_name    = var.cluster_name
    endpoint_snitch = "Ec2Snitch"
    seed_provider = [{
      class_name = "org.apache.cassandra.locator.SimpleSeedProvider"
      parameters = [{ seeds = local.seed }]
    }]

    # These settings prevent a default password (up to 2026.1), and create the superuser (from 2026.2).
    authenticator                  = "PasswordAuthenticator"
    authorizer                     = "CassandraAuthorizer"
    auth_superuser_name            = var.superuser_name
    auth_superuser_salted_password = var.superuser_salted_password
  })

  # The image masks its Systems Manager agent (packer/scylla_install_image). Without these commands nobody could log in, because no port
  # for SSH is open.
  let_session_manager_in = <<-SH
    systemctl unmask amazon-ssm-agent
    systemctl enable amazon-ssm-agent
    systemctl start --no-block amazon-ssm-agent
  SH

  user_data = jsonencode({
    scylla_yaml                = local.scylla_yaml
    start_scylla_on_first_boot = true
    data_device                = "instance_store"
    raid_level                 = 0
    post_configuration_script  = base64encode(local.let_session_manager_in)
  })
}
