import type { Known } from './check.ts';

/**
 * Arguments as in arguments-aws.ts, for buckets. Each property of a bucket is a separate resource. The properties that the bucket
 * itself still has since 4.0 count as read-only.
 */
export const S3: Record<string, Known> = {
  aws_s3_bucket: {
    sets: 'bucket bucket_prefix force_destroy object_lock_enabled region tags',
    reads:
      'acceleration_status acl arn bucket_domain_name bucket_region bucket_regional_domain_name cors_rule grant hosted_zone_id id lifecycle_rule logging object_lock_configuration policy replication_configuration request_payer server_side_encryption_configuration tags_all versioning website website_domain website_endpoint',
  },
  aws_s3_bucket_lifecycle_configuration: {
    needs: 'bucket',
    sets: 'expected_bucket_owner region transition_default_minimum_object_size',
    reads: 'id',
    blocks: {
      rule: {
        needs: 'id status',
        sets: 'prefix',
        blocks: {
          abort_incomplete_multipart_upload: {
            sets: 'days_after_initiation',
          },
          expiration: {
            sets: 'date days expired_object_delete_marker',
          },
          filter: {
            sets: 'object_size_greater_than object_size_less_than prefix',
          },
          noncurrent_version_expiration: {
            needs: 'noncurrent_days',
            sets: 'newer_noncurrent_versions',
          },
        },
      },
    },
  },
  aws_s3_bucket_ownership_controls: {
    needs: 'bucket rule',
    sets: 'region',
    reads: 'id',
    blocks: {
      rule: {
        needs: 'object_ownership',
      },
    },
  },
  aws_s3_bucket_policy: {
    needs: 'bucket policy',
    sets: 'region',
    reads: 'id',
  },
  aws_s3_bucket_public_access_block: {
    needs: 'bucket',
    sets: 'block_public_acls block_public_policy ignore_public_acls region restrict_public_buckets skip_destroy',
    reads: 'id',
  },
  aws_s3_bucket_server_side_encryption_configuration: {
    needs: 'bucket rule',
    sets: 'expected_bucket_owner region',
    reads: 'id',
    blocks: {
      rule: {
        sets: 'blocked_encryption_types bucket_key_enabled',
        blocks: {
          apply_server_side_encryption_by_default: {
            needs: 'sse_algorithm',
            sets: 'kms_master_key_id',
          },
        },
      },
    },
  },
  aws_s3_bucket_versioning: {
    needs: 'bucket versioning_configuration',
    sets: 'expected_bucket_owner mfa region',
    reads: 'id',
    blocks: {
      versioning_configuration: {
        needs: 'status',
        sets: 'mfa_delete',
      },
    },
  },
};
