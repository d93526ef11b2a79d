import { identifyDevice, isName } from '../../../schema/ids.ts';
import type { LatestRow } from '../../store/devices/latest-rows.ts';
import { selectSensors } from '../shared/selection/index.ts';
import type { SelectedSensor } from '../shared/selection/sensors.ts';
import { type Labels, NAME_LABEL } from './expression.ts';
import type { Matcher } from './matchers.ts';
import type { PrometheusDeps } from './requests.ts';

export const METRIC_NAME = 'millrace_value';

/** A query with more devices reads the whole fleet. */
const MAX_DEVICES = 100;

/** Labels that the sensor does not have are missing. No label is inherited, because a query may ask for `constructor`. */
export function metricLabels({ deviceName, deviceId, name, id, type, unit, site }: LatestRow): Labels {
  const all = {
    [NAME_LABEL]: METRIC_NAME,
    device: deviceName ?? deviceId,
    sensor: name ?? id,
    type,
    unit,
    site,
  };
  const own = Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string] => Boolean(entry[1])),
  );
  return Object.assign(Object.create(null), own);
}

/**
 * Sensors that at least one selector matches, in no particular order. A single selector narrows the read down. For
 * several ones the whole fleet is read. `to`: end of the range that will be read, in epoch ms.
 * @throws `query_too_large` for more than `limit` sensors
 */
export async function selectMatching(
  deps: Pick<PrometheusDeps, 'store'>,
  selectors: Matcher[][],
  {
    accepts = () => true,
    ...options
  }: { limit: number; to: number; signal: AbortSignal; accepts?: (labels: Labels) => boolean },
): Promise<SelectedSensor[]> {
  const [matchers = []] = selectors.length === 1 ? selectors : [];
  const name = matchers.find(({ label }) => label === NAME_LABEL);
  if (name && !name.accepts(METRIC_NAME)) return [];
  const [devices, sites, types] = ['device', 'site', 'type'].map((label) => allowedValues(matchers, label));
  // No label has a text that is no name.
  if ([devices, sites, types].some((texts) => texts && !texts.some((text) => text === '' || isName(text))))
    return [];
  const selection = {
    devices: (devices ?? []).filter((text) => identifyDevice(text)),
    sensors: [],
    site: onlyName(sites),
    type: onlyName(types),
  };
  if (devices && selection.devices.length === 0) return [];
  return selectSensors(deps, selection, {
    ...options,
    skipsUnknown: true,
    accepts(row) {
      const labels = metricLabels(row);
      return selectors.some((each) => matches(labels, each)) && accepts(labels);
    },
  });
}

const matches = (labels: Labels, matchers: Matcher[]) =>
  matchers.every(({ label, accepts }) => accepts(labels[label] ?? ''));

/** Undefined: several texts, or the empty text of a missing label. */
const onlyName = (texts: string[] | null | undefined): string | undefined =>
  texts?.length === 1 && texts[0] ? texts[0] : undefined;

/** Null: the matchers do not list the values, or list more than MAX_DEVICES. */
function allowedValues(matchers: Matcher[], label: string): string[] | null {
  const listed = matchers.find((matcher) => matcher.label === label && matcher.texts);
  return listed?.texts && listed.texts.length <= MAX_DEVICES ? listed.texts : null;
}
