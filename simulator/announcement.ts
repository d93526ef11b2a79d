import { birthTopic, statusPayload, statusTopic } from './mqtt/topics.ts';

export interface SensorDescription {
  name: string;
  type: string;
  unit?: string;
  intervalMs?: number;
}

export type DeviceDescription = { name: string; site?: string; sensors: SensorDescription[] };

/** @param session start, in epoch ms */
export const birthMessage = ({ name, site, sensors }: DeviceDescription, session: number) => ({
  topic: birthTopic(name),
  payload: JSON.stringify({
    session,
    name,
    site,
    sensors: sensors.map((sensor) => ({
      sensor_id: sensor.name,
      name: sensor.name,
      type: sensor.type,
      unit: sensor.unit,
      interval_ms: sensor.intervalMs,
    })),
  }),
});

/** @param session start, in epoch ms */
export const statusMessage = ({ name }: DeviceDescription, state: 'online' | 'offline', session: number) => ({
  topic: statusTopic(name),
  payload: statusPayload(state, session),
  retain: true,
});
