import type { ComponentType } from 'preact';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { DeviceInfo } from '../api/types.ts';
import type { ChartSubject, Details, DevicePage, Feature, FeaturePage, Judgment, Slots } from '../feature.ts';

/** The features of the dashboard. `details`: complete before a view that uses them is drawn */
export interface LoadedFeatures {
  features: readonly Feature[];
  details: readonly Details[];
}

export const FeaturesContext = createContext<LoadedFeatures>({ features: [], details: [] });

export const useFeatures = (): readonly Feature[] => useContext(FeaturesContext).features;

export type Page = FeaturePage & { name: string };

export const useFeaturePages = (): Page[] =>
  useFeatures().flatMap(({ name, page }) => (page ? [{ name, ...page }] : []));

/** Draws the parts of all features for one place, in the order of the list of features. */
export function Slot<N extends keyof Slots>({ name, ...props }: { name: N } & Slots[N]) {
  return useFeatures().map((feature) => {
    const Part = feature.slots?.[name] as ComponentType<object> | undefined;
    return Part && <Part key={feature.name} {...props} />;
  });
}

export const useSensorActions = () => useFeatures().flatMap(({ sensorAction }) => sensorAction ?? []);

export const useJudgment = (): Judgment | undefined =>
  useFeatures().find(({ judgment }) => judgment)?.judgment;

export const useFleetPicture = () => useFeatures().find(({ wall }) => wall)?.wall;

/** @returns the judgment of the installation, with the name of its feature */
export function useDiagnosis() {
  const feature = useFeatures().find(({ diagnosis }) => diagnosis);
  return feature?.diagnosis && { name: feature.name, ...feature.diagnosis };
}

/** Calls the hooks of all features for the charts of a view. Their number and order never change. */
export function useChartParts(subject: ChartSubject) {
  const { details } = useContext(FeaturesContext);
  return details.flatMap(({ useChart }) => (useChart ? [useChart(subject)] : []));
}

/** Calls the hooks of all features for the page of a device. */
export function useDeviceParts(device: DeviceInfo, page: DevicePage) {
  const { details } = useContext(FeaturesContext);
  return details.flatMap(({ useDevice }) => (useDevice ? [useDevice(device, page)] : []));
}

const parts =
  <Props extends object>(partOf: (details: Details) => ComponentType<Props> | undefined) =>
  (props: Props) =>
    useContext(FeaturesContext).details.map((details, index) => {
      const Part = partOf(details);
      return Part && <Part key={index} {...props} />;
    });

export const ChartActions = parts(({ ChartActions }) => ChartActions);
export const DeviceActions = parts(({ DeviceAction }) => DeviceAction);
export const SampleMarks = parts(({ SampleMark }) => SampleMark);

/** @returns the part of the first feature that has it */
const usePart = <N extends 'Overview' | 'RangeForm' | 'Summary' | 'ValueNote' | 'Values'>(name: N) =>
  useContext(FeaturesContext).details.find((details) => details[name])?.[name];

export const useOverview = () => usePart('Overview');
export const useRangeForm = () => usePart('RangeForm');
export const useSummary = () => usePart('Summary');
export const useValueNote = () => usePart('ValueNote');
export const useValues = () => usePart('Values');
