// Generated from the OpenAPI document by `npm run docs:reference`.

export interface SensorBaseline {
  hours: {
    ts: string;
    mean: number;
    deviation: number;
  }[];
}
/** A sensor, its newest value, and what is usual in the hour of that value. `sigmas` is the distance in deviations, at most 99 to either side. `age_ms` is the age of the value. `baseline` is null if the hour ended meanwhile. */
export interface Outlier {
  device_id: string;
  sensor_id: string;
  device: string | null;
  name: string | null;
  type: string | null;
  unit: string | null;
  site: string | null;
  /** The announced interval of its measurements, in ms. Missing if none was announced, and over MQTT. */
  interval_ms?: number;
  ts: string;
  value: number;
  /** Only over MQTT, after a correction: this value replaces a shown one up to this time, even if it is older. */
  corrected_until?: string;
  sigmas: number;
  baseline: Baseline | null;
  age_ms: number;
}
/** What is usual for a sensor in one hour, in its unit. */
export interface Baseline {
  mean: number;
  deviation: number;
}
export interface OutlierGroups {
  items: OutlierGroup[];
  groups: number;
}
export interface OutlierGroup {
  site: string | null;
  device_id: string | null;
  device: string | null;
  sensors: number;
  judged: number;
  outliers: number;
  worst: Outlier | null;
}
/** The counts are of all sensors of the filter, whatever the limit. */
export interface Outliers {
  items: Outlier[];
  sensors: number;
  judged: number;
  outliers: number;
}
