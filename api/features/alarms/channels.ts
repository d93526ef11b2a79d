import { type Channel, jsonMessage } from '../../http/index.ts';

/** The last level of the topic `iot/live/alarms`. */
export const CHANNEL = 'alarms';

/** For `live.channel`. */
export function readAlarm({ event, alarm }: { event?: unknown; alarm?: { alarm_id?: unknown } }) {
  const isValid = typeof event === 'string' && typeof alarm?.alarm_id === 'string';
  return isValid ? { event, alarm } : null;
}

export const CHANNELS = {
  alarms: {
    action: 'send',
    qos: 0,
    address: 'iot/live/alarms',
    title: 'Changes of alarms after their commit',
    description:
      'For live readers. Only ingest may publish here. A lost message is not repeated; `GET /alarms` has the alarms as they are.',
    parameters: {},
    messages: { alarm: jsonMessage('application/json', 'AlarmMessage', 'A change, and the alarm after it') },
  },
} satisfies Record<string, Channel>;
