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

run "names_of_us_east_1" {
  command = plan

  assert {
    condition     = output.datacenter == "us-east"
    error_message = "us-east-1 is the data center us-east, not ${output.datacenter}."
  }

  assert {
    condition     = join(",", values(output.racks)) == "1a,1b,1c"
    error_message = "The racks are ${jsonencode(output.racks)}."
  }
}

run "names_of_us_west_2" {
  command = plan

  variables {
    zones = {
      us-west-2a = "10.20.0.0/24"
      us-west-2b = "10.20.1.0/24"
      us-west-2c = "10.20.2.0/24"
    }
  }

  assert {
    condition     = output.datacenter == "us-west-2"
    error_message = "us-west-2 keeps its number, and is not ${output.datacenter}."
  }

  assert {
    condition     = output.racks["us-west-2b"] == "2b"
    error_message = "us-west-2b is the rack 2b, not ${output.racks["us-west-2b"]}."
  }
}

run "names_of_us_gov_west_1" {
  command = plan

  variables {
    zones = {
      us-gov-west-1a = "10.20.0.0/24"
      us-gov-west-1b = "10.20.1.0/24"
      us-gov-west-1c = "10.20.2.0/24"
    }
  }

  assert {
    condition     = output.datacenter == "us-gov-west" && output.racks["us-gov-west-1a"] == "1a"
    error_message = "us-gov-west-1a is us-gov-west and 1a, not ${output.datacenter} and ${output.racks["us-gov-west-1a"]}."
  }
}

run "addresses_are_fixed" {
  command = plan

  assert {
    condition     = [for node in values(output.nodes) : node.address] == ["10.20.0.10", "10.20.1.10", "10.20.2.10"]
    error_message = "The addresses are ${jsonencode([for node in values(output.nodes) : node.address])}."
  }

  assert {
    condition     = output.first_node == "1a-0" && output.seed == "10.20.0.10"
    error_message = "The first node is the seed, not ${output.first_node} at ${output.seed}."
  }
}

run "nodes_that_are_added_leave_the_others_alone" {
  command = plan

  variables {
    nodes_per_zone = 2
  }

  assert {
    condition     = join(",", keys(output.nodes)) == "1a-0,1a-1,1b-0,1b-1,1c-0,1c-1"
    error_message = "The nodes are ${join(",", keys(output.nodes))}."
  }

  assert {
    condition     = output.nodes["1b-0"].address == "10.20.1.10" && output.nodes["1b-1"].address == "10.20.1.11"
    error_message = "Nodes of 1b have ${output.nodes["1b-0"].address} and ${output.nodes["1b-1"].address}."
  }

  assert {
    condition     = output.seed == run.addresses_are_fixed.seed
    error_message = "The seed moved to ${output.seed}."
  }
}

run "the_application_s_settings" {
  command = plan

  assert {
    condition     = output.settings.CQL_CONTACT_POINTS == "10.20.0.10:9042,10.20.1.10:9042,10.20.2.10:9042" && output.settings.CQL_LOCAL_DC == "us-east"
    error_message = "The settings are ${jsonencode(output.settings)}."
  }
}

run "a_local_zone_has_no_rack" {
  command = plan

  variables {
    zones = { us-east-1-bos-1a = "10.20.0.0/24" }
  }

  expect_failures = [var.zones]
}

run "zones_of_two_regions_are_two_data_centers" {
  command = plan

  variables {
    zones = {
      us-east-1a = "10.20.0.0/24"
      us-east-2b = "10.20.1.0/24"
      us-east-1c = "10.20.2.0/24"
    }
  }

  expect_failures = [var.zones]
}

run "one_subnet_for_two_zones" {
  command = plan

  variables {
    zones = {
      us-east-1a = "10.20.0.0/24"
      us-east-1b = "10.20.0.0/24"
      us-east-1c = "10.20.2.0/24"
    }
  }

  expect_failures = [var.zones]
}

run "a_subnet_too_small" {
  command = plan

  variables {
    zones = {
      us-east-1a = "10.20.0.0/28"
      us-east-1b = "10.20.1.0/24"
      us-east-1c = "10.20.2.0/24"
    }
  }

  expect_failures = [var.zones]
}
