import type { ComponentType } from 'preact';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type {
  ChartActionsProps,
  ChartSubject,
  Details,
  Feature,
  FeaturePage,
  Judgment,
  SampleMarkProps,
  Slots,
} from '../feature.ts';

/** The features of the dashboard. `details`: complete before a view that uses them is drawn */
export interface LoadedFeatures {
  features: readonly Feature[];
  details: readonly Details[];
}

export const FeaturesContext = createContext<LoadedFeatures>({ features: [], details: [] });

export const useFeatures = (): readonly Feature[] => useContext(FeaturesContext).features;

export type Page = FeaturePage & { name: string };

/** @returns the pages of features, in the order of the navigation */
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

/** @returns the judgment of the first feature that has one */
export const useJudgment = (): Judgment | undefined =>
  useFeatures().find(({ judgment }) => judgment)?.judgment;

/** Calls the hooks of all features for the charts of a view. Their number and order never change. */
export function useChartParts(subject: ChartSubject) {
  const { details } = useContext(FeaturesContext);
  return details.flatMap(({ useChart }) => (useChart ? [useChart(subject)] : []));
}

/** Draws what features add below a chart. */
export const ChartActions = (props: ChartActionsProps) =>
  useContext(FeaturesContext).details.map(
    ({ ChartActions: Part }, index) => Part && <Part key={index} {...props} />,
  );

export const SampleMarks = (props: SampleMarkProps) =>
  useContext(FeaturesContext).details.map(
    ({ SampleMark: Part }, index) => Part && <Part key={index} {...props} />,
  );

export const useValueNote = () =>
  useContext(FeaturesContext).details.find(({ ValueNote }) => ValueNote)?.ValueNote;
