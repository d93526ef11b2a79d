import type { ReadonlySignal } from '@preact/signals';
import type { ComponentChildren, ComponentType, FunctionComponent } from 'preact';
import type { Plugin } from 'uplot';
import type { DeviceInfo, FleetInfo, LatestItem } from './api/types.ts';
import type { Faults, Judge } from './state/cells.ts';
import type { FleetSensor } from './state/fleet.ts';
import type { FleetState } from './state/fleet-state.ts';
import type { Matcher } from './state/lists.ts';
import type { Outdated } from './state/sensor.ts';
import type { Facts, Stale, Verdict } from './state/verdict.ts';
import type { StateNames } from './states.ts';
import type { Scale } from './units.ts';

/** What a feature adds to the dashboard. Only `name` is required. */
export interface Feature {
  /** name of its folder, and address of its page */
  name: string;
  page?: FeaturePage;
  /** kinds of events that it reads from the event stream; see `Live.changesOf` */
  events?: readonly string[];
  slots?: { [name in keyof Slots]?: ComponentType<Slots[name]> };
  /** an action on a sensor, as a column of sensor tables and as a button on the page of the sensor */
  sensorAction?: { label: string; Button: ComponentType<{ item: SensorNames }> };
  standsOut?: StandsOut;
  judgment?: Judgment;
  diagnosis?: Diagnosis;
  wall?: FleetPicture;
  /** loads what it adds to the pages of devices and sensors, together with these pages */
  details?: () => Promise<Details>;
  /** address of the page that explains why measurements are refused */
  refusalsHref?: string;
}

type SensorNames = Pick<LatestItem, 'device_id' | 'sensor_id' | 'device' | 'name'>;

/** The page at the address `/NAME`. */
export interface FeaturePage {
  label: string;
  /** further words that find the page in the search */
  words: string;
  /** where links to the page stand: in the navigation, or among the lists of the fleet */
  place: 'navigation' | 'lists';
  /** the scope that the page needs, if it needs more than to read */
  scope?: 'ingest' | 'admin';
  load: () => Promise<FunctionComponent>;
  /** whether the page uses `details` of features */
  hasDetails?: boolean;
  /** number next to the label in the navigation, for users who may read */
  Badge?: ComponentType;
  /** link of the navigation, in place of the label */
  Link?: ComponentType<{ isHere: boolean }>;
}

/** The places in which features draw, with the props that each place gives. */
export interface Slots {
  /** above the wall */
  fleetFigures: { fleetState: ReadonlySignal<FleetState> };
  /** note above a list of devices, and on the page of a device */
  deviceNote: object;
  /** mark of a device in a list, or among the facts on its page; `device`: id */
  deviceMark: { device: string; isOnline: boolean; isFact: boolean };
  /** text on the page of a device that does not exist; `device`: id or name */
  missingDevice: { device: string };
  /** button next to the switch between the lists of the fleet */
  listAction: object;
  /** button in the header, also before the sign-in */
  headerAction: object;
  /** below the message that no sensor has sent a value yet */
  emptyFleet: object;
  /** within the first steps: how to get the account that the embedded broker demands */
  stepsAccount: object;
  /** button below the chart of a sensor; names or ids */
  sensorButton: { device: string; sensor: string };
  /** fields above the wall that choose places, also without fields in a full window; `isLarge`: a tile stands for many sensors */
  wallPlaces: { isLarge: boolean; isFull: boolean };
  /** marks on cells of the wall; `arranged` is another value whenever cells have moved */
  wallMarks: { picture: WallPicture | null; arranged: unknown };
  /** what the marks on the wall mean */
  wallLegend: object;
  /** next to the wall; `isLarge`: a tile stands for many sensors */
  wallSide: {
    info: FleetInfo | null;
    fleetState: ReadonlySignal<FleetState>;
    isLarge: boolean;
    isStale: boolean;
  };
}

/** Judges the installation in more detail than the core. The page of the feature explains the verdict. */
export interface Diagnosis {
  verdictOf: (facts: Facts) => Verdict;
  /** label of links to the page */
  link: string;
}

/** A picture of the fleet above its lists, with the filters of the lists as its children. */
export interface FleetPicture {
  /** whether the address shows the picture alone, without lists */
  isAlone: (query: URLSearchParams) => boolean;
  Picture: ComponentType<{
    info: FleetInfo | null;
    fleetState: ReadonlySignal<FleetState>;
    /** what a tile stands for in a fleet that is too large; null: one cell for each sensor */
    grouping: (Pick<Judgment, 'GroupWall'> & { by: Grouping }) | null;
    children: ComponentChildren;
  }>;
}

export interface WallPicture {
  /** @returns place of the cell in px from the top left of the wall; null: the sensor has no cell */
  boxOf: (sensor: FleetSensor) => { x: number; y: number; width: number; height: number } | null;
}

/** Entries of the list "What stands out" next to the wall. */
export interface StandsOut {
  /** whether the entries stand above those of the core */
  isFirst?: boolean;
  /** a hook that counts the entries; null: not known yet */
  useCount: (props: StandsOutProps) => number | null;
  /** text while the number is not known */
  reading?: string;
  /** whether the entries are faults; if all faults are of one kind, its list has more entries */
  isFault: boolean;
  List: ComponentType<StandsOutProps & { isOnly: boolean }>;
}

export interface StandsOutProps {
  /** filters of the address; null: all sensors match */
  matches: Matcher | null;
  /** null: the fleet is too large to be held by the page */
  faults: Faults | null;
}

/** Judges the newest values, and ranks the sensors of a fleet that is too large for a cell each. */
export interface Judgment {
  judge: Judge;
  /** text of a value that is not old */
  describe: (sensor: Pick<FleetSensor, 'cellState' | 'sigmas'>) => string;
  /** texts while nothing stands out; `old`: no values arrive */
  calm: { old: string; textOf: (numbers: { sensors: number; judged: number }) => string };
  Legend: ComponentType;
  /** @returns what a tile stands for; null: the wall has one cell for each sensor */
  groupingOf: (info: FleetInfo, filter: { type: string | null; site: string | null }) => Grouping | null;
  GroupWall: ComponentType<{ by: Grouping; isStale: boolean; isFull: boolean }>;
  /** the sensors of a large fleet that stand out; `isCalm`: nothing else stands out */
  Ranking: ComponentType<{ isCalm: boolean; isStale: boolean }>;
}

/** The meaning of a tile of the wall: all sensors of a device, or of a site. */
export type Grouping = 'device' | 'site';

/** What a feature adds to the pages of devices and sensors. */
export interface Details {
  /** a hook that each view with charts calls when it is drawn */
  useChart?: (subject: ChartSubject) => {
    /** the array stays the same while the view exists */
    plugins: readonly Plugin[];
    /** line below the chart */
    note?: ComponentChildren;
    /** panel below the chart */
    panel?: ComponentChildren;
    /** controls at the end of the panel of the chart of a sensor */
    foot?: ComponentChildren;
  };
  /** a hook that the page of a device calls when it is drawn */
  useDevice?: (device: DeviceInfo, page: DevicePage) => DeviceParts;
  /** text about the newest value of a sensor; the first feature that has one draws it */
  ValueNote?: ComponentType<ValueNoteProps>;
  /** action on a device, next to its name */
  DeviceAction?: ComponentType<{ device: DeviceInfo }>;
  /** buttons below a chart, or below the charts of a device */
  ChartActions?: ComponentType<ChartActionsProps>;
  /** mark next to a sample or bin in a table of values */
  SampleMark?: ComponentType<SampleMarkProps>;
  /** form below the choice of the range; the first feature that has one draws it */
  RangeForm?: ComponentType<RangeFormProps>;
  /** the values of a range as a table, below the chart of a sensor; the first feature that has it draws it */
  Values?: ComponentType<ValuesProps>;
  /** statistics of the values in the chart of a sensor; the first feature that has it draws it */
  Summary?: ComponentType<Pick<ValuesProps, 'shape' | 'unit' | 'states'> & { isRead: boolean }>;
  /** all that is kept of a sensor, below its chart; the first feature that has it draws it */
  Overview?: ComponentType<OverviewProps>;
}

export interface DevicePage {
  stale: Stale | null;
  /** reads the device again */
  reload: () => void;
}

export interface DeviceParts {
  /** in place of the time axis above the charts; the first feature that has one draws it */
  axis?: (props: TimeAxisProps) => ComponentChildren;
  /** panel next to the table of sensors */
  panel?: ComponentChildren;
}

/** The charts of a device share these, and stand below one time axis. */
export interface TimeAxisProps extends Windowed {
  device: DeviceInfo;
  stale: Stale | null;
  /** the window of the address; during a gesture, `window` differs */
  settled: ChartSubject['range'];
  onWindow: (next: ChartSubject['range'], isSettled: boolean) => void;
  onReset: () => void;
  cursorKey: string;
  /** time in epoch ms of the cursor that all charts share */
  cursor: ReadonlySignal<number | null>;
  describedBy: string;
  /** the axis, and marks; the array stays the same while the view exists */
  plugins: Plugin[];
}

/** The window of a chart, and the time that users can select, in epoch ms. */
interface Windowed {
  window: ChartSubject['range'];
  bounds: { earliest: number; now: number };
}

export interface RangeFormProps extends Windowed {
  /** id of the element */
  id: string;
  onChange: (next: ChartSubject['range']) => void;
  /** @param ms length of the live window */
  onLive: (ms: number) => void;
}

export interface OverviewProps extends Windowed {
  extent: SignalSubject['sent'] & { from: number; to: number };
  type: string | null;
  onWindow: (next: ChartSubject['range'], isSettled: boolean) => void;
  /** space left and right of the plot of the chart in px; both align by equal margins */
  edges: { left: number; right: number } | null;
}

export interface ValuesProps {
  sensor: { device_id: string; sensor_id: string };
  /** the window of the address */
  window: ChartSubject['range'];
  /** what the chart draws within the window, in `unit` */
  shape: DrawnLine['shape'] & { stepMs: number | null; from: number; to: number };
  unit: string;
  /** scale of the samples, which differs from that of the chart if the chart draws the rate of a counter */
  samples: Scale;
  /** names of the states; null: the values are numbers */
  states: StateNames | null;
  /** scale of the drawn values; null: states or rates are drawn */
  scale: Scale | null;
}

export interface SampleMarkProps {
  min: number;
  max: number;
  /** scale of the values; null: they are states or rates */
  scale: Scale | null;
}

export interface ChartActionsProps {
  name: string;
  /** returns the lines within the window */
  lines: () => DrawnLine[];
  chart: { current: HTMLElement | null };
  /** the only sensor of the chart, with the range of the address in epoch ms */
  samples?: { device_id: string; sensor_id: string; range: ChartSubject['range'] } | null;
}

/** A line of a chart: samples or bins in columns, with times in epoch ms. */
export interface DrawnLine {
  device: string;
  sensor: string;
  unit: string | null;
  shape: { ts: number[]; avg: (number | null)[]; min: number[]; max: number[]; count: number[] };
}

export interface ValueNoteProps {
  item: LatestItem;
  recent: { ts: number; value: number }[];
  /** the reason why the value is not current; null: it is current */
  outdated: Outdated | null;
}

export interface ChartSubject {
  devices: readonly string[];
  /** the only sensor of the chart; null: there are several, or it is not known yet */
  sensor: { device_id: string; sensor_id: string } | null;
  /** the device of the page, if the view is the page of a device or sensor */
  device: { id: string; name: string } | null;
  range: { live: boolean; from: number; to: number };
  /** end of the shown window in epoch ms */
  at: number;
  /** the signal of the only sensor */
  signal?: SignalSubject | null;
}

export interface SignalSubject {
  /** samples or bins within the window, as the sensor sends them */
  sent: DrawnLine['shape'] & { stepMs: number | null };
  unit: string | null;
  /** scale of the drawn values; null: states or rates are drawn */
  scale: Scale | null;
}
