# The state holds the database's password. Its bucket encrypts it, keeps old versions and has few readers: see
# docs/how-to/deploy-the-database.md, "Keep the state". Name the bucket on the command line:
#   terraform init -backend-config=bucket=NAME -backend-config=region=REGION -backend-config=kms_key_id=ARN
terraform {
  backend "s3" {
    key          = "millrace/scylladb-cloud.tfstate"
    encrypt      = true
    use_lockfile = true
  }
}
