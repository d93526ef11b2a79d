variables {
  cluster_name              = "millrace"
  superuser_salted_password = "$6$saltsalt$xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
  vcpus_per_node            = 4
  storage_gb_per_node       = 937
  zones = {
    us-east-1a = "10.20.0.0/24"
    us-east-1b = "10.20.1.0/24"
    us-east-1c = "10.20.2.0/24"
  }
}

run "one_copy_in_each_rack" {
  command = plan

  assert {
    condition     = output.create_keyspace == "CREATE KEYSPACE IF NOT EXISTS iot WITH replication = {'class': 'NetworkTopologyStrategy', 'us-east': 3};"
    error_message = output.create_keyspace
  }
}

run "more_nodes_are_not_more_copies" {
  command = plan

  variables {
    nodes_per_zone = 2
    keyspace       = "plant"
  }

  assert {
    condition     = output.create_keyspace == "CREATE KEYSPACE IF NOT EXISTS plant WITH replication = {'class': 'NetworkTopologyStrategy', 'us-east': 3};"
    error_message = output.create_keyspace
  }
}

run "two_copies_in_three_racks" {
  command = plan

  variables {
    replication_factor = 2
  }

  expect_failures = [var.replication_factor]
}

run "three_copies_in_two_racks" {
  command = plan

  variables {
    zones = {
      us-east-1a = "10.20.0.0/24"
      us-east-1b = "10.20.1.0/24"
    }
  }

  expect_failures = [var.replication_factor]
}

run "one_copy_in_one_rack_to_try_it" {
  command = plan

  variables {
    zones              = { us-east-1a = "10.20.0.0/24" }
    replication_factor = 1
  }

  assert {
    condition     = endswith(output.create_keyspace, "'us-east': 1};")
    error_message = output.create_keyspace
  }
}

run "a_keyspace_that_the_application_would_refuse" {
  command = plan

  variables {
    keyspace = "Iot"
  }

  expect_failures = [var.keyspace]
}
