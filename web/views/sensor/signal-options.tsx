import { formatUnit } from '../../format.ts';
import { Choice } from '../../kit/controls.tsx';
import { useServices } from '../../state/hooks.ts';
import { quantityOf, unitsOf } from '../../units.ts';

const KINDS = [
  { value: 'value', label: 'Value' },
  { value: 'rate', label: 'Rate', title: 'How much it rises in a time' },
];

/** Renders the choices for the chart of a sensor: unit, and value or rate of a counter. If there is nothing to choose, nothing is shown. */
export function SignalOptions({ unit, isCounter }: { unit: string | null; isCounter: boolean }) {
  const { router } = useServices();
  const { query } = router.place.value;
  const isRate = query.get('as') === 'rate';
  return (
    <>
      {isCounter && (
        <Choice
          legend="Show its"
          options={KINDS}
          value={isRate ? 'rate' : 'value'}
          onChange={(value: string) =>
            router.changeQuery({ as: value === 'rate' ? value : null }, { replace: true })
          }
        />
      )}
      <UnitChoice unit={unit} />
    </>
  );
}

/** Applies to all views in this browser. @param props `unit`: unit as the sensor sends it */
function UnitChoice({ unit }: { unit: string | null }) {
  const { preferences } = useServices();
  const { units } = preferences.choice.value;
  const quantity = quantityOf(unit);
  if (!quantity) return null;
  return (
    <label class="unit-choice">
      <span>Unit</span>
      <select
        value={units[quantity] ?? ''}
        title={`The unit of every ${quantity} in this browser`}
        onChange={(event) =>
          preferences.change({ units: { ...units, [quantity]: event.currentTarget.value || undefined } })
        }
      >
        <option value="">as sent ({formatUnit(unit)})</option>
        {unitsOf(quantity).map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    </label>
  );
}
