import type { Config } from '../../../common/settings/config.ts';
import { defineSettings } from '../../../common/settings/group.ts';
import { flag } from '../../../common/settings/value-types.ts';

export const SPARKPLUG_SETTINGS = defineSettings({
  title: 'Sparkplug',
  shape: {
    SPARKPLUG: flag().optional().meta({
      description: 'If true, this process takes Sparkplug B. Exactly one process of an installation does.',
      unset: 'true when ROLE is all',
    }),
  },
  arrange: (v) => ({ isOn: v.SPARKPLUG }),
  rules({ isOn }, { role, mqtt }) {
    const takes = isOn ?? role === 'all';
    return [
      [takes && role === 'http', 'SPARKPLUG must be false when ROLE is http'],
      [
        // With Sparkplug the client id is also the host id, which is one level of a topic.
        takes && /[/+#]/.test(mqtt.clientId),
        'MQTT_CLIENT_ID must be without /, + and # when SPARKPLUG is true',
      ],
    ];
  },
});

/** Whether this process takes Sparkplug B. */
export const takesSparkplug = (config: Pick<Config, 'role' | 'of'>): boolean =>
  config.of(SPARKPLUG_SETTINGS).isOn ?? config.role === 'all';
