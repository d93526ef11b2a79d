import { binaryMessage, type Channel, jsonMessage, NAMED } from '../../http/index.ts';
import { WAITED } from '../../live/index.ts';

const WAITED_HEADER = {
  type: 'object',
  properties: { [WAITED]: { type: 'string', pattern: '^\\d+$', description: 'Whole milliseconds.' } },
};

const DEVICE = {
  description:
    'A device: a UUID in lower case, or a name of 1 to 128 bytes of UTF-8 without control characters or slashes.',
  examples: ['my-desk'],
};

/** Of the core. A test compares these topics with the topics of ingest. */
export const CHANNELS = {
  measurements: {
    action: 'receive',
    qos: 1,
    address: 'iot/v1/{device}/measurements',
    title: 'A batch of measurements',
    description:
      'Each sample belongs to a sensor of the device. The broker removes the retain flag. If a sample is wrong, the others are stored, and a dead letter names its path and the rule that failed.',
    parameters: { device: DEVICE },
    messages: {
      plain: jsonMessage('application/json', 'PlainMeasurements', 'Plain JSON'),
      senmlJson: jsonMessage('application/senml+json', 'SenmlPack', 'SenML as JSON (RFC 8428)'),
      senmlCbor: binaryMessage('application/senml+cbor', 'SenML as CBOR (RFC 8428, section 6)'),
    },
  },
  birth: {
    action: 'receive',
    qos: 1,
    address: 'iot/v1/{device}/birth',
    title: 'The registration of a device and its sensors',
    description:
      'Acknowledged after the commit to the registry. The birth that arrived last describes the device, whatever its `session` is. If a sensor is wrong, the others are registered, and a dead letter names its path and the rule that failed.',
    parameters: { device: DEVICE },
    messages: { birth: jsonMessage('application/json', 'Birth', 'A birth') },
  },
  status: {
    action: 'receive',
    qos: 1,
    address: 'iot/v1/{device}/status',
    title: 'The state of a device: online or offline',
    description: 'Retained. Set the same message with `offline` as last will.',
    parameters: { device: DEVICE },
    messages: {
      status: jsonMessage('application/json', 'Status', 'The state, with the session'),
      word: {
        contentType: 'text/plain',
        summary: 'The state alone',
        payload: { type: 'string', enum: ['online', 'offline'] },
      },
    },
  },
  live: {
    action: 'send',
    qos: 0,
    address: 'iot/live/{device}',
    title: 'New values after their commit',
    description:
      'For live readers, coalesced to the newest value of each sensor. Only ingest may publish here. A lost message is not repeated; `/stream` sends the lost values within 30 seconds. An external broker gets them only while a reader of the API follows the device, or with `LIVE_ALWAYS`, `LIVE_TOPICS`, `LIVE_RETAIN` or `HOME_ASSISTANT_PREFIX`. The user property `waited_ms` (MQTT 5) is the time from the commit of the oldest change to the sending of the message.',
    parameters: {
      device: { description: 'The UUID of the device in lower case. With `LIVE_TOPICS=name` also its name.' },
    },
    messages: {
      changes: {
        ...jsonMessage('application/json', 'LiveItems', 'Sensors of the device, with their newest values'),
        headers: WAITED_HEADER,
      },
    },
  },
  liveSamples: {
    action: 'send',
    qos: 0,
    address: 'iot/live/{device}/samples',
    title: 'All samples of a message after their commit',
    description:
      'Up to 100 samples a message, in the order of time for each sensor. Late samples are here too. With an external broker only if `LIVE_TOPICS` has `samples`.',
    parameters: { device: NAMED },
    messages: { samples: jsonMessage('application/json', 'LiveItems', 'Samples of the device') },
  },
  liveSensor: {
    action: 'send',
    qos: 0,
    address: 'iot/live/{device}/sensors/{sensor}',
    title: 'The newest value of one sensor',
    description:
      'Retained if `LIVE_RETAIN` is set. With an external broker only if `LIVE_TOPICS` has `sensors`, or with `LIVE_RETAIN` or `HOME_ASSISTANT_PREFIX`.',
    parameters: {
      device: NAMED,
      sensor: { ...NAMED, description: 'The sensor, named as the device.', examples: ['temperature'] },
    },
    messages: {
      value: {
        ...jsonMessage('application/json', 'LatestItem', 'The sensor with its newest value'),
        headers: WAITED_HEADER,
      },
    },
  },
  stats: {
    action: 'send',
    qos: 0,
    address: 'iot/live/stats/{process}',
    title: 'The rates of a process',
    description:
      'Once a second, for processes that serve readers. They add up the messages of the last three seconds. Only processes of the installation may publish here.',
    parameters: {
      process: { description: 'The `client_id` of the process in `/pipeline`, percent-encoded.' },
    },
    messages: {
      stats: jsonMessage(
        'application/json',
        'StatsSnapshot',
        'Its rates, its commit times, its pressure on the database and its health',
      ),
    },
  },
  readers: {
    action: 'send',
    qos: 0,
    address: 'iot/live/readers/{process}',
    title: 'The devices that the readers of a process follow',
    description:
      'Every five seconds while a process has readers, and after each change, at an external broker. An announcement counts for 16 s. Only processes of the installation may publish here.',
    parameters: { process: { description: 'A name that the process has drawn at its start.' } },
    messages: {
      readers: jsonMessage(
        'application/json',
        'ReadersAnnouncement',
        'Ids of devices, or `+` for all devices',
      ),
    },
  },
} satisfies Record<string, Channel>;
