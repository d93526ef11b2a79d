import type { Slots } from '../../feature.ts';
import { formatCounted } from '../../format.ts';
import { Count } from '../shared/count.tsx';
import type { RefusedDevice } from './api.ts';
import { refusalRate, useDeadLetterCount, useRefusals, useUnmatchedTopics } from './state.ts';
import './marks.css';

/** Renders a badge with the number of dead letters of the last hour. If the number is 0, the badge is hidden. */
export function RecentDeadLetters() {
  const count = useDeadLetterCount();
  if (!count) return null;
  return <Count count={count} what="within the last hour" />;
}

/**
 * Renders a notice on the page of a device whose messages are refused.
 *
 * @param props `online`: the device counts as online
 */
const Refusals = ({ refusals, online }: { refusals: RefusedDevice; online: boolean }) => (
  <a class="refusals" href="/dead-letters">
    ! {online ? 'refused in part' : 'sends, but refused'}: {refusalRate(refusals)}
  </a>
);

export function RefusalMark({ device, isOnline, isFact }: Slots['deviceMark']) {
  const refusals = useRefusals(device);
  if (!refusals) return null;
  const mark = <Refusals refusals={refusals} online={isOnline} />;
  return isFact ? <li>{mark}</li> : mark;
}

export function MissingDeviceRefusals({ device }: Slots['missingDevice']) {
  const refusals = useRefusals(device);
  return (
    refusals && (
      <p>
        <Refusals refusals={refusals} online={false} />
      </p>
    )
  );
}

/** Renders a hint at the topics that Millrace does not know. */
export function UnmatchedHint() {
  const { data } = useUnmatchedTopics();
  const [newest] = data?.items ?? [];
  if (!data || !newest) return null;
  const count = data.items.reduce((sum, item) => sum + item.count, 0);
  return (
    <p class="unmatched-hint" role="status">
      {formatCounted(count, 'message')} came on topics that Millrace does not know.{' '}
      {newest.suggestion !== null && (
        <>
          Did you mean <code>{newest.suggestion}</code>?{' '}
        </>
      )}
      <a class="link" href="/dead-letters">
        Show unmatched topics
      </a>
    </p>
  );
}
