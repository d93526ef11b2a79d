import { z } from 'zod';
import { type Channel, jsonMessage, NAMED } from '../../http/index.ts';

const HomeAssistantConfig = z
  .strictObject({
    name: z.string(),
    unique_id: z.string(),
    state_topic: z.string(),
    value_template: z.string(),
    unit_of_measurement: z.string().optional(),
    device_class: z.string().optional(),
    state_class: z.enum(['measurement', 'total_increasing']),
    availability_topic: z.string(),
    expire_after: z.int().optional(),
    device: z.strictObject({
      identifiers: z.array(z.string()),
      name: z.string(),
      suggested_area: z.string().optional(),
    }),
    origin: z.strictObject({ name: z.literal('Millrace') }),
  })
  .meta({
    description:
      'A sensor, as the MQTT discovery of Home Assistant takes it. A member that is not known is absent.',
  });

export const MESSAGES = { HomeAssistantConfig };

export const CHANNELS = {
  liveStatus: {
    action: 'send',
    qos: 0,
    address: 'iot/live/{device}/status',
    title: 'The availability of a device, for Home Assistant',
    description: 'Retained. Published if `HOME_ASSISTANT_PREFIX` is set. Empty after the device is retired.',
    parameters: { device: NAMED },
    messages: {
      state: {
        contentType: 'text/plain',
        summary: 'The state',
        payload: { type: 'string', enum: ['online', 'offline'] },
      },
    },
  },
  homeAssistant: {
    action: 'send',
    qos: 0,
    address: '{prefix}/sensor/{device}/{sensor}/config',
    title: 'The discovery topic of a sensor for Home Assistant',
    description:
      'Retained. Published with the first value of a sensor, and again with a value after an hour, if `HOME_ASSISTANT_PREFIX` is set. Empty after the device is retired.',
    parameters: {
      prefix: { description: 'HOME_ASSISTANT_PREFIX.', examples: ['homeassistant'] },
      device: { description: 'The UUID of the device.' },
      sensor: { description: 'The UUID of the sensor.' },
    },
    messages: {
      config: jsonMessage('application/json', 'HomeAssistantConfig', 'The configuration of the sensor'),
    },
  },
} satisfies Record<string, Channel>;
