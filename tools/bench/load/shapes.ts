/** Registering more sensors than `SENSORS` takes longer than a round. */
const DEVICES = 1000;
const SENSORS = 10_000;

export interface Shape {
  name: string;
  sensors: number;
  samples: number;
  devices: number;
  /** default: SenML; `lines`: InfluxDB's line protocol */
  format?: 'senml' | 'lines';
}

/** A minute of one sensor, ten seconds of it, the simulator's collar, a factory, and a single reading. */
export const SHAPES = ['1x60', '1x10', '4x10', '50x1', '1x1'];

/** @param name `4x10` is four sensors with ten samples each; `1x1@100000` is a fleet of 100,000 devices */
export function shapeOf(name: string, devices?: number): Shape | null {
  const match = /^([1-9]\d{0,2})x([1-9]\d{0,3})(?:@([1-9]\d{0,5}))?$/.exec(name);
  if (!match) return null;
  const [sensors = 0, samples = 0, fleet] = match.slice(1).map(Number);
  const few = Math.min(DEVICES, Math.floor(SENSORS / sensors));
  return { name, sensors, samples, devices: devices ?? (fleet || few) };
}

/** @throws {RangeError} for a name that is no load */
export function loadOf(name: string, devices?: number): Shape {
  const shape = shapeOf(name, devices);
  if (!shape) throw new RangeError(`${name} is no load such as 4x10`);
  return shape;
}

export const samplesOf = ({ sensors, samples }: Shape): number => sensors * samples;
