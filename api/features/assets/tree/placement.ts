/** Sensor null: all sensors of the device that have no own placement in this time. Times in epoch ms, full hours; `to` may be Infinity. */
export interface Placement {
  device: string;
  sensor: string | null;
  from: number;
  to: number;
}

/** `assets`: ids of all assets that hold the placement before or after the change, in [from, to) or a part of it. */
export interface ChangedPlacement extends Placement {
  assets: readonly string[];
}

/** Is called for each version of the log, also for those that the process reads at its start. */
export type ChangeListener = (changed: ChangedPlacement[], version: number) => void;

/** An asset that is the child of another one in [from, to). */
export interface ChildSpan {
  asset: string;
  from: number;
  to: number;
}
