import { defineSettings, type SettingsGroup } from '../../../common/settings/group.ts';
import { text, webAddress } from '../../../common/settings/value-types.ts';

export const ALARM_SETTINGS = defineSettings({
  title: 'Alarms',
  shape: {
    ALARM_WEBHOOK_URL: webAddress()
      .optional()
      .meta({ description: 'Receives each change of an alarm as a POST.', unset: 'nobody' }),
    ALARM_WEBHOOK_SECRET: text().optional().meta({
      description: 'Key that signs these requests, in the header Millrace-Signature.',
      secret: true,
    }),
    ALARM_ALERTMANAGER_URL: webAddress()
      .optional()
      .meta({ description: 'An Alertmanager that receives alarms by its API v2.', unset: 'none' }),
  },
  arrange: (v) => ({
    webhookUrl: v.ALARM_WEBHOOK_URL,
    webhookSecret: v.ALARM_WEBHOOK_SECRET,
    alertmanagerUrl: v.ALARM_ALERTMANAGER_URL,
  }),
});

export type AlarmSettings = typeof ALARM_SETTINGS extends SettingsGroup<infer T> ? T : never;
