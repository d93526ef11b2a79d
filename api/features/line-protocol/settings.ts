import { defineSettings } from '../../../common/settings/group.ts';
import { conditions, tokens } from '../../../common/settings/value-types.ts';

export const LINE_SETTINGS = defineSettings({
  title: 'Line protocol',
  shape: {
    LINE_DEVICE_TAGS: tokens()
      .prefault('device,device_id,host,source')
      .describe(
        'Tags of line protocol that name the device. The first of them that a line has counts; without one it is the measurement.',
      ),
    LINE_SKIP: conditions().optional().meta({
      description:
        'Leaves out values of line protocol: NAME=NUMBER the field, NAME=TEXT and NAME!=VALUE the line. * stands for any text.',
      unset: 'nothing is left out',
    }),
  },
  arrange: (v) => ({ deviceTags: v.LINE_DEVICE_TAGS, skip: v.LINE_SKIP ?? [] }),
});
