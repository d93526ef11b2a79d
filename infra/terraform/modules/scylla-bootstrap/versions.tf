# No provider, on purpose: everything here is arithmetic over names, and is proven by `terraform test` without a network.
terraform {
  required_version = ">= 1.11"
}
