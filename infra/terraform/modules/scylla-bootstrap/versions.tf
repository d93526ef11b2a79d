# This module intentionally uses no provider. It only computes values from names, so `terraform test` can check it without a network.
terraform {
  required_version = ">= 1.11"
}
