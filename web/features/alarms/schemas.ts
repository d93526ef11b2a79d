// Generated from the OpenAPI document by `npm run docs:reference`.

/** A time range in which a sensor met the condition of a rule. */
export interface Alarm {
  /** An opaque text that an address can contain. */
  alarm_id: string;
  rule_id: string;
  /** The name that the rule had. */
  rule: string;
  severity: 'info' | 'warning' | 'critical';
  /** The condition of the rule. Null for alarms from before version 0.4. */
  condition: ('above' | 'below' | 'outside' | 'rate' | 'absent') | null;
  /** The advice in the version of the rule that found the alarm. Null without a text, or if the rule was removed. */
  text: string | null;
  device_id: string;
  device: string | null;
  sensor_id: string;
  sensor: string | null;
  site: string | null;
  /** The first sample of the alarm; for an absence the last sample before it. */
  started_at: string;
  /** The time of measurement at which the condition had held for long enough. */
  opened_at: string;
  cleared_at: string | null;
  /** The most extreme value, or rate a second. Null for an absence. */
  peak: number | null;
  /** Unit of the sensor when the alarm was found. */
  unit: string | null;
  /** `withdrawn`: samples that arrived later show that it did not happen. */
  state: 'open' | 'cleared' | 'withdrawn';
  /** It was opened or corrected after the fact. */
  seen_late: boolean;
  acknowledged_at: string | null;
  acknowledged_by: string | null;
  comment: string | null;
  shelved_until: string | null;
  /** The last correction of values between its start and its end; null: none. The alarm stays as it is. */
  values_corrected_at: string | null;
}
/** A rule of alarms. */
export interface AlarmRule {
  /** A text of 1 to 128 bytes. */
  name: string;
  scope: {
    /** Sensors of this type. */
    type?: string;
    /** Sensors of this site. */
    site?: string;
    /** The device: a UUID in lower case, or a name. */
    device?: string;
    /** The sensor of `device`: a UUID in lower case, or a name. */
    sensor?: string;
  };
  condition:
    | {
        kind: 'above';
        limit: number;
        clear?: number;
        /** How long the condition must hold, in ms. Default: one sample is enough. */
        for_ms?: number;
        /** For how many samples the condition must hold. Default: 1. */
        for_samples?: number;
      }
    | {
        kind: 'below';
        limit: number;
        clear?: number;
        /** How long the condition must hold, in ms. Default: one sample is enough. */
        for_ms?: number;
        /** For how many samples the condition must hold. Default: 1. */
        for_samples?: number;
      }
    | {
        kind: 'outside';
        limit: [number, number];
        clear?: [number, number];
        /** How long the condition must hold, in ms. Default: one sample is enough. */
        for_ms?: number;
        /** For how many samples the condition must hold. Default: 1. */
        for_samples?: number;
      }
    | {
        kind: 'rate';
        /** The change of the value in a second, without its sign. */
        limit: number;
        clear?: number;
        /** How long the condition must hold, in ms. Default: one sample is enough. */
        for_ms?: number;
        /** For how many samples the condition must hold. Default: 1. */
        for_samples?: number;
      }
    | {
        kind: 'absent';
        /** The silence in ms. */
        for_ms?: number;
        /** The silence in intervals of the sensor, by its birth. Default: 3, without `for_ms`. */
        intervals?: number;
      };
  severity: 'info' | 'warning' | 'critical';
  /** What to do. It goes out with each alarm. */
  text?: string;
  rule_id: string;
  /** Each change makes a new version. */
  version: number;
  /** The time of measurement from which this version applies. */
  since: string;
}
/** When a rule would have fired. */
export interface Backtest {
  from: string;
  to: string;
  /** The oldest sample that the tested sensors have in the range. Null: they have none. */
  stored_from: string | null;
  /** The newest of these samples, or `to` if newer ones are outside the range. */
  stored_to: string | null;
  /** Alarms that the rule would have opened, with those that `items` leaves out. */
  count: number;
  /** Sensors that were looked at. */
  sensors: number;
  /** The scope has more sensors than one test reads. */
  partial: boolean;
  /** Tested sensors without an interval. A rule of the kind `absent` with `intervals` never fires for them. 0 for other rules. */
  without_interval: number;
  /** How long the listed alarms lasted together. */
  total_ms: number;
  /** The first 1,000 alarms, by sensor and time. */
  items: {
    device_id: string;
    device: string | null;
    sensor_id: string;
    sensor: string | null;
    started_at: string;
    opened_at: string;
    cleared_at: string | null;
    peak: number | null;
  }[];
  /** A limit with fewer alarms, and their number. */
  fewer_alarms: {
    limit: number;
    count: number;
  } | null;
  /** A limit with more alarms, and their number. */
  more_alarms: {
    limit: number;
    count: number;
  } | null;
}
