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

run "three_nodes_are_free" {
  command = plan

  assert {
    condition     = output.license.vcpus == 24 && output.license.storage_tb == 5.625
    error_message = "Three i7i.2xlarge are ${jsonencode(output.license)}."
  }
}

run "fifty_vcpus_and_ten_terabytes_are_still_free" {
  command = plan

  variables {
    other_vcpus      = 26
    other_storage_gb = 4375
  }

  assert {
    condition     = output.license.vcpus == 50 && output.license.storage_tb == 10
    error_message = "At the limit it is ${jsonencode(output.license)}."
  }
}

run "one_vcpu_too_many" {
  command = plan

  variables {
    other_vcpus = 27
  }

  expect_failures = [output.license]
}

run "one_gigabyte_too_many" {
  command = plan

  variables {
    other_storage_gb = 4376
  }

  expect_failures = [output.license]
}

run "six_nodes_are_too_much_disk" {
  command = plan

  variables {
    nodes_per_zone = 2
  }

  expect_failures = [output.license]
}

run "six_nodes_with_a_contract" {
  command = plan

  variables {
    nodes_per_zone = 2
    license        = "commercial"
  }

  assert {
    condition     = output.license.vcpus == 48 && output.license.storage_tb == 11.25
    error_message = "Six i7i.2xlarge are ${jsonencode(output.license)}."
  }
}

run "an_instance_without_disks" {
  command = plan

  variables {
    storage_gb_per_node = 0
  }

  expect_failures = [var.storage_gb_per_node]
}
