// Generated from the OpenAPI document by `npm run docs:reference`.

export interface Asset {
  asset_id: string;
  /** A text of 1 to 128 bytes of UTF-8 without control characters and slashes. */
  name: string;
  /** Levels of ISA-95, from the top. The level of an asset is deeper than that of its parent. */
  level: 'enterprise' | 'site' | 'area' | 'line' | 'cell' | 'machine';
  /** Names from the root to the asset, with slashes. */
  path: string;
  /** Null: a root. */
  parent_id: string | null;
  /** Children now. */
  children: number;
  /** Devices and sensors now at the asset itself. */
  members: number;
}
export interface AssetDetail {
  asset_id: string;
  /** A text of 1 to 128 bytes of UTF-8 without control characters and slashes. */
  name: string;
  /** Levels of ISA-95, from the top. The level of an asset is deeper than that of its parent. */
  level: 'enterprise' | 'site' | 'area' | 'line' | 'cell' | 'machine';
  /** Names from the root to the asset, with slashes. */
  path: string;
  /** Null: a root. */
  parent_id: string | null;
  /** Children now. */
  children: number;
  /** Devices and sensors now at the asset itself. */
  members: number;
  retired: boolean;
  /** From the root to the parent. */
  ancestors: {
    asset_id: string;
    /** A text of 1 to 128 bytes of UTF-8 without control characters and slashes. */
    name: string;
    /** Levels of ISA-95, from the top. The level of an asset is deeper than that of its parent. */
    level: 'enterprise' | 'site' | 'area' | 'line' | 'cell' | 'machine';
  }[];
}
export interface AssetMatches {
  items: Asset[];
  /** More assets match. */
  more: boolean;
}
/** A device or a sensor, and the asset that it is placed at. */
export interface AssetMember {
  device_id: string;
  device: string | null;
  /** Null: the device with all its sensors that have no own place. */
  sensor_id: string | null;
  sensor: string | null;
  /** The sensors of the device that have an own place. */
  own_sensors: string[];
  asset_id: string;
  /** Names from the root to the asset, with slashes. */
  path: string;
  /** The level of each asset on the path, from the root. */
  levels: ('enterprise' | 'site' | 'area' | 'line' | 'cell' | 'machine')[];
}
export interface AssetPlaces {
  device_id: string;
  /** Of the device, then of its sensors, each oldest first. */
  places: AssetPlace[];
}
export interface AssetPlace {
  sensor_id: string | null;
  sensor: string | null;
  asset_id: string;
  /** As it is now. */
  path: string;
  /** Start of the place, a full hour. Null: always. */
  from: string | null;
  /** Null: the device or the sensor is there now. */
  to: string | null;
}
export interface AssetPlan {
  /** Null: the asset has no plan. */
  picture: {
    type: 'image/svg+xml' | 'image/png' | 'image/jpeg' | 'image/webp';
    changed_at: string;
  } | null;
  /** `x` and `y` are fractions of the width and the height, from the top left. */
  places: {
    device_id: string;
    sensor_id: string;
    x: number;
    y: number;
  }[];
}
/** Points in order of time. Bins without samples are left out. `source` is `roll-ups` if the points are made of hourly roll-ups of the asset, else as in a series of a sensor. Samples from `complete_until` on may be missing. It is null if none is missing. */
export interface AssetSeries {
  points: Point[];
  /** The width of a bin in milliseconds. */
  step_ms: number;
  source: 'roll-ups' | 'statistics' | 'samples';
  complete_until: string | null;
}
/** The samples of one bin. `ts` is the start of the bin, also if the range starts within it. `avg` is null if the sum overflows a double. */
export interface Point {
  ts: string;
  min: number;
  max: number;
  avg: number | null;
  count: number;
}
export interface TreeReport {
  dry_run: boolean;
  /** Lines that create assets. */
  created: number;
  /** Lines that place a device or a sensor. */
  placed: number;
  unchanged: number;
  refused: number;
  /** The first 1000 lines that change something or are refused. */
  lines: {
    line: number;
    outcome: 'created' | 'placed' | 'refused';
    code: string | null;
    detail: string | null;
  }[];
}
