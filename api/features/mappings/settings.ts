import { defineSettings } from '../../../common/settings/group.ts';
import { readableFile } from '../../../common/settings/value-types.ts';

export const MAPPING_SETTINGS = defineSettings({
  title: 'Mappings',
  shape: {
    MQTT_MAPPINGS: readableFile().optional().meta({
      description: 'YAML file of mappings, which read topics of other products.',
      unset: 'no mappings',
    }),
  },
  arrange: (v) => ({ file: v.MQTT_MAPPINGS }),
});
