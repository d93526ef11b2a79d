import { defineSettings } from '../../../common/settings/group.ts';
import { matching } from '../../../common/settings/value-types.ts';

export const HOME_ASSISTANT_SETTINGS = defineSettings({
  title: 'Home Assistant',
  shape: {
    HOME_ASSISTANT_PREFIX: matching(/^[^+#\s]+$/, 'a topic without +, # and spaces')
      .optional()
      .meta({
        description:
          'Publishes discovery topics of Home Assistant under this prefix, normally homeassistant.',
        unset: 'none',
      }),
  },
  arrange: (v) => ({ prefix: v.HOME_ASSISTANT_PREFIX }),
});
