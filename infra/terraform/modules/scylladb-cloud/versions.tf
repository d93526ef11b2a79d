terraform {
  required_version = ">= 1.11"

  required_providers {
    scylladbcloud = {
      source  = "scylladb/scylladbcloud"
      version = "~> 1.13"
    }
  }
}
