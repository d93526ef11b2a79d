variables {
  cluster_name              = "millrace"
  superuser_salted_password = "$6$saltsalt$xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
  vcpus_per_node            = 8
  storage_gb_per_node       = 1875
  zones = {
    us-east-1a = "10.20.0.0/24"
    us-east-1b = "10.20.1.0/24"
    us-east-1c = "10.20.2.0/24"
  }
}

run "what_the_image_reads" {
  command = plan

  assert {
    condition     = jsondecode(base64decode(output.user_data_base64)).start_scylla_on_first_boot
    error_message = "ScyllaDB would not start by itself."
  }

  assert {
    condition     = jsondecode(base64decode(output.user_data_base64)).data_device == "instance_store"
    error_message = "The disks of the instance would not be taken."
  }

  assert {
    condition     = jsondecode(base64decode(output.user_data_base64)).scylla_yaml.seed_provider[0].parameters[0].seeds == "10.20.0.10"
    error_message = "All nodes join through the first."
  }

  assert {
    condition     = jsondecode(base64decode(output.user_data_base64)).scylla_yaml.endpoint_snitch == "Ec2Snitch"
    error_message = "The racks would have other names."
  }
}

run "nobody_gets_in_without_a_password" {
  command = plan

  assert {
    condition     = jsondecode(base64decode(output.user_data_base64)).scylla_yaml.authenticator == "PasswordAuthenticator"
    error_message = "Everybody would get in."
  }

  assert {
    condition     = nonsensitive(jsondecode(base64decode(output.user_data_base64)).scylla_yaml.auth_superuser_salted_password == var.superuser_salted_password)
    error_message = "The superuser has another password."
  }
}

run "session_manager_gets_in" {
  command = plan

  assert {
    condition     = strcontains(base64decode(jsondecode(base64decode(output.user_data_base64)).post_configuration_script), "unmask amazon-ssm-agent")
    error_message = "The agent of Systems Manager would stay masked."
  }
}

run "a_node_joins_through_another_when_the_first_is_gone" {
  command = plan

  variables {
    seed_address = "10.20.1.10"
  }

  assert {
    condition     = jsondecode(base64decode(output.user_data_base64)).scylla_yaml.seed_provider[0].parameters[0].seeds == "10.20.1.10"
    error_message = "The seed is not the one that was named."
  }
}

run "further_settings_do_not_undo_ours" {
  command = plan

  variables {
    scylla_yaml = {
      authenticator             = "AllowAllAuthenticator"
      client_encryption_options = { enabled = true }
    }
  }

  assert {
    condition     = jsondecode(base64decode(output.user_data_base64)).scylla_yaml.authenticator == "PasswordAuthenticator"
    error_message = "A further setting opened the door."
  }

  assert {
    condition     = jsondecode(base64decode(output.user_data_base64)).scylla_yaml.client_encryption_options.enabled
    error_message = "A further setting was lost."
  }
}

run "a_password_is_no_hash" {
  command = plan

  variables {
    superuser_salted_password = "not a hash"
  }

  expect_failures = [var.superuser_salted_password]
}

run "cassandra_is_no_superuser" {
  command = plan

  variables {
    superuser_name = "cassandra"
  }

  expect_failures = [var.superuser_name]
}
