// Generated from the OpenAPI document by `npm run docs:reference`.

/** A correction of one device. `samples` counts the samples that got a value, or were removed; it is 0 until a removal ends, and until then `sensor_ids` has all selected sensors. `by` is the kind of the credential, the fingerprint of the token and the address of the caller. */
export interface Correction {
  id: string;
  accepted_at: string;
  kind: 'replace' | 'remove' | 'undo';
  device_id: string;
  sensor_ids: string[];
  from: string;
  /** Not included. */
  to: string;
  samples: number;
  by: string;
  reason: string | null;
  /** The undone correction, for the kind `undo`. */
  undoes: string | null;
}
/** The samples that were removed, or that a dry run would remove, and the devices and sensors that have them. */
export interface Removal {
  dry_run: boolean;
  devices: number;
  sensors: number;
  samples: number;
}
