# The state holds the database's password. It lies in a bucket that encrypts it, whose versions go back, and that only few
# may read: see infra/terraform/README.md, "Where the state lies". The bucket's name is not written here:
#   terraform init -backend-config=bucket=NAME -backend-config=region=REGION -backend-config=kms_key_id=ARN
terraform {
  backend "s3" {
    key          = "millrace/scylladb-cloud.tfstate"
    encrypt      = true
    use_lockfile = true
  }
}
