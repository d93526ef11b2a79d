/**
 * As in arguments-aws.js, of buckets: each of their properties is a resource of its own.
 *
 * @type {Record<string, import('./check.js').Known>}
 */
export const S3 = {
  aws_s3_bucket: {
    sets: 'bucket bucket_prefix force_destroy tags',
    // Since 4.0 these are resources of their own, and arguments here no more than in name.
    reads:
      'arn id acl policy versioning lifecycle_rule server_side_encryption_configuration bucket_domain_name tags_all',
  },
  aws_s3_bucket_lifecycle_configuration: {
    sets: 'bucket expected_bucket_owner',
    reads: 'id',
    blocks: {
      rule: {
        sets: 'id prefix status',
        blocks: {
          abort_incomplete_multipart_upload: { sets: 'days_after_initiation' },
          expiration: { sets: 'date days expired_object_delete_marker' },
          filter: { sets: 'object_size_greater_than object_size_less_than prefix' },
          noncurrent_version_expiration: { sets: 'newer_noncurrent_versions noncurrent_days' },
          noncurrent_version_transition: { sets: 'newer_noncurrent_versions noncurrent_days storage_class' },
          transition: { sets: 'date days storage_class' },
        },
      },
    },
  },
  aws_s3_bucket_ownership_controls: {
    sets: 'bucket',
    reads: 'id',
    blocks: { rule: { sets: 'object_ownership' } },
  },
  aws_s3_bucket_policy: { sets: 'bucket policy', reads: 'id' },
  aws_s3_bucket_public_access_block: {
    sets: 'region bucket block_public_acls block_public_policy ignore_public_acls restrict_public_buckets skip_destroy',
    reads: 'id',
  },
  aws_s3_bucket_server_side_encryption_configuration: {
    sets: 'bucket expected_bucket_owner',
    reads: 'id',
    blocks: {
      rule: {
        sets: 'bucket_key_enabled',
        blocks: { apply_server_side_encryption_by_default: { sets: 'sse_algorithm kms_master_key_id' } },
      },
    },
  },
  aws_s3_bucket_versioning: {
    sets: 'bucket expected_bucket_owner mfa',
    reads: 'id',
    blocks: { versioning_configuration: { sets: 'status mfa_delete' } },
  },
};
