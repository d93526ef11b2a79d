# The state holds the hash of the superuser's password. It lies in a bucket that encrypts it, whose versions go back, and that
# only few may read: see infra/terraform/README.md, "Where the state lies". The bucket's name is not written here:
#   terraform init -backend-config=bucket=NAME -backend-config=region=REGION -backend-config=kms_key_id=ARN
terraform {
  backend "s3" {
    key          = "millrace/aws-ec2.tfstate"
    encrypt      = true
    use_lockfile = true
  }
}
