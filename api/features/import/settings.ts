import { defineSettings } from '../../../common/settings/group.ts';
import { integer } from '../../../common/settings/value-types.ts';

export const IMPORT_SETTINGS = defineSettings({
  title: 'Import',
  shape: {
    IMPORT_MAX_BYTES: integer(1_048_576, 1_099_511_627_776, 'bytes')
      .prefault('1073741824')
      .describe('Largest Parquet file that POST /import takes. It lies under DATA_DIR while it is imported.'),
  },
  arrange: (v) => ({ maxBytes: v.IMPORT_MAX_BYTES }),
});
