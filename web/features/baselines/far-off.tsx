import { useServices } from '../../state/hooks.ts';
import { sensorValueText } from '../../units.ts';
import { Kind, linkTo } from '../shared/stands-out.tsx';
import { NORMAL, NOT_JUDGED, TO_BE_JUDGED } from './deviation.ts';
import './baselines.css';
import type { StandsOutProps } from '../../feature.ts';
import type { FleetSensor } from '../../state/fleet.ts';
import type { UnitChoices } from '../../units.ts';
import type { Entry } from '../shared/stands-out.tsx';

const SCALE = Array.from({ length: 2 * NORMAL + 1 }, (_, cellState) => cellState);

export const Legend = () => (
  <>
    <li
      class="wall-scale"
      title="How far each value is from what is usual for its sensor at this hour of the week, by the history of four weeks"
    >
      <span>far below</span>
      <span class="wall-scale-steps" aria-hidden="true">
        {SCALE.map((cellState) => (
          <i key={cellState} class="swatch" data-cell-state={cellState} />
        ))}
      </span>
      <span>far above its usual</span>
    </li>
    <li title={`Nothing is known of what is usual for it: ${TO_BE_JUDGED}`}>
      <i class="swatch" data-cell-state={NOT_JUDGED} aria-hidden="true" />
      not judged yet
    </li>
  </>
);

export const useFarCount = ({ faults }: StandsOutProps): number => faults?.farCount ?? 0;

/** Renders the list of outliers, the largest deviation first. */
export function FarOff({ faults, isOnly }: StandsOutProps & { isOnly: boolean }) {
  const { preferences } = useServices();
  const { units } = preferences.choice.value;
  if (!faults) return null;
  return (
    <Kind
      look="far"
      title="Far off"
      count={faults.farCount}
      items={faults.far}
      entryOf={(sensor) => farEntry(sensor, units)}
      isOnly={isOnly}
    />
  );
}

function farEntry(sensor: FleetSensor, choices: UnitChoices): Entry {
  const value = sensorValueText(sensor, choices);
  const isLow = Number(sensor.sigmas) < 0;
  return { ...linkTo(sensor), text: `${isLow ? '▼' : '▲'} ${value}`, tone: isLow ? 'low' : 'high' };
}
