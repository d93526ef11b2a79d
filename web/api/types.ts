// The names of the API's answers in the dashboard. `npm run docs:reference` writes the schemas that are named here. Features name
// further schemas in their files `api.ts`.
import type * as schemas from './schemas.ts';

/** A sensor with its newest value. `label`: from requests of the device only. `interval_ms`: null or missing if not announced */
export type LatestItem = Omit<schemas.JudgedItem, 'interval_ms'> & {
  interval_ms?: number | null;
  label?: string | null;
};
export type Readiness = schemas.Readiness;
export type SensorInfo = schemas.Sensor;
export type DeviceInfo = schemas.DeviceWithSensors;
export type DeviceItem = schemas.Device;
export type Presence = DeviceItem['state'];
export type DeviceEvent = schemas.Event;
export type UnwatchedTime = schemas.UnwatchedTime;
export type FleetInfo = schemas.Fleet;
export type Measurement = schemas.Measurement;
export type Series = schemas.Series;
export type Delta = schemas.Delta;
export type StatsEvent = schemas.StatsEvent;
export type ProcessHealth = StatsEvent['health'][number];
export type Mqtt = schemas.Mqtt;

export type Page<T> = { items: T[]; next: string | null };
