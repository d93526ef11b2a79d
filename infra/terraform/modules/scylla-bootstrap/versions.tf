# No provider, on purpose: everything here is arithmetic over names, so `terraform test` can check it without a network.
terraform {
  required_version = ">= 1.11"
}
