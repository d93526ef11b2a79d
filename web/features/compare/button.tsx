import { useMemo } from 'preact/hooks';
import type { LatestItem } from '../../api/types.ts';
import { useKept } from '../../state/hooks.ts';
import { compareHref, MOST_COMPARED, refOf } from './address.ts';
import { createComparison } from './state.ts';
import '../../kit/header.css';
import './button.css';

export function CompareButton({
  item,
}: {
  item: Pick<LatestItem, 'device_id' | 'sensor_id' | 'device' | 'name'>;
}) {
  const comparison = useKept(createComparison);
  const refs = comparison.refs.value;
  const { device_id, sensor_id, device, name: sensorName } = item;
  // A reference costs two hashes, and each new value redraws the row of a sensor. So the reference is computed once.
  const ref = useMemo(
    () => refOf({ device_id, sensor_id, device, name: sensorName }),
    [device_id, sensor_id, device, sensorName],
  );
  const isIn = refs.includes(ref);
  const isFull = !isIn && refs.length >= MOST_COMPARED;
  const name = `${sensorName ?? sensor_id} of ${device ?? device_id}`;
  return (
    <button
      type="button"
      class="compare-button"
      aria-pressed={isIn}
      aria-label={`Compare ${name}`}
      title={isFull ? `${MOST_COMPARED} sensors are compared at most` : 'Compare with other sensors'}
      disabled={isFull}
      onClick={() => comparison.toggle(ref)}
    >
      {isIn ? '✓' : '+'} <span class="compare-word">compare</span>
    </button>
  );
}

export function CompareLink({ isHere }: { isHere: boolean }) {
  const refs = useKept(createComparison).refs.value;
  if (refs.length === 0 && !isHere) return null;
  return (
    <a href={compareHref(refs)} aria-current={isHere ? 'page' : undefined}>
      Compare {refs.length > 0 && <span class="compare-count">{refs.length}</span>}
    </a>
  );
}
