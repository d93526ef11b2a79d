import type { ReadonlySignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { FleetInfo } from '../../api/types.ts';
import type { Judgment, Slots, StandsOut, StandsOutProps } from '../../feature.ts';
import { formatCount, formatCounted, formatSpan } from '../../format.ts';
import { useFeatures, useJudgment } from '../../kit/slots.tsx';
import { deviceHref } from '../../routes.ts';
import type { Faults } from '../../state/cells.ts';
import type { Fleet, FleetDevice, FleetSensor } from '../../state/fleet.ts';
import { MOST_SENSORS } from '../../state/fleet.ts';
import type { FleetState } from '../../state/fleet-state.ts';
import { useServices } from '../../state/hooks.ts';
import { listMatcherOf } from '../shared/matching.ts';
import type { Entry } from '../shared/stands-out.tsx';
import { Kind, linkTo } from '../shared/stands-out.tsx';

/** Renders the list of what stands out next to the wall. */
export function StandsOutNextToWall({ info, fleetState, isLarge, isStale }: Slots['wallSide']) {
  const Ranking = useJudgment()?.Ranking;
  return isLarge && Ranking ? (
    <LargeFleetList info={info} isStale={isStale} Ranking={Ranking} />
  ) : (
    <StandsOutList fleetState={fleetState} isStale={isStale} />
  );
}

/**
 * Renders the list of what stands out in the fleet, each with a link. The list replaces the wall for screen readers. Faults come
 * before unusual values.
 *
 * @param props `isStale`: no values arrive
 */
function StandsOutList({
  fleetState,
  isStale,
}: {
  fleetState: ReadonlySignal<FleetState>;
  isStale: boolean;
}) {
  const { live, router } = useServices();
  const { faults: all, info, now } = fleetState.value;
  const matches = listMatcherOf(router.place.value.query, live.fleet.judge);
  const faults = matches ? live.fleet.listFaults(matches) : all;
  const { silent, offline, silentCount } = faults;
  const kinds = useKinds({ matches, faults });
  const judgment = useJudgment();
  const counts = [silentCount, offline.length, ...kinds.faultCounts];
  const nothing = silentCount + offline.length + kinds.count === 0;
  const isOnly = counts.filter((count) => count > 0).length === 1;
  const isRead = live.fleet.isRead() && info !== null;
  return (
    <section class="stands-out" aria-label="What stands out">
      {kinds.draw({ isFirst: true, isOnly })}
      <Kind
        look="offline"
        title="Devices offline"
        count={offline.length}
        items={offline}
        entryOf={(device) => offlineEntry(device, live.fleet.holdsAll())}
        isOnly={isOnly}
      />
      <Kind
        look="silent"
        title="Silent"
        count={silentCount}
        items={silent}
        entryOf={(sensor) => silentEntry(sensor, now)}
        isOnly={isOnly}
      />
      {kinds.draw({ isFirst: false, isOnly })}
      {(nothing || !isRead || kinds.reading !== null) && (
        <p class="stands-out-none">
          {isRead
            ? (kinds.reading ??
              calmText({ faults, isPart: matches !== null, isStale, fleet: live.fleet, info, judgment }))
            : readingText(live.fleet, info)}
        </p>
      )}
    </section>
  );
}

/** Renders the list of what stands out in a fleet that is too large to be held by the page. @param props `isStale`: no values arrive */
function LargeFleetList({
  info,
  isStale,
  Ranking,
}: {
  info: FleetInfo | null;
  isStale: boolean;
  Ranking: Judgment['Ranking'];
}) {
  const kinds = useKinds({ matches: null, faults: null });
  const offline = info?.devices.offline ?? 0;
  return (
    <section class="stands-out" aria-label="What stands out">
      {kinds.draw({ isFirst: true, isOnly: false })}
      {offline > 0 && (
        <div class="stands-out-kind" data-look="offline">
          <h2>
            <a href="/?show=devices&state=offline" title="Show the devices that are offline">
              Devices offline <b>{formatCount(offline)}</b>
            </a>
          </h2>
        </div>
      )}
      {kinds.draw({ isFirst: false, isOnly: false })}
      <Ranking isCalm={kinds.reading === null && kinds.count + offline === 0} isStale={isStale} />
    </section>
  );
}

/**
 * Counts the entries that the features bring.
 *
 * @returns `reading`: text while a number is not known yet; null: all are known; `draw`: draws the entries
 */
function useKinds(props: StandsOutProps) {
  const kinds = useFeatures().flatMap(({ name, standsOut }) => (standsOut ? [{ name, ...standsOut }] : []));
  const counted = kinds.map((kind) => ({ ...kind, found: kind.useCount(props) }));
  const isFirstOf = ({ isFirst = false }: StandsOut) => isFirst;
  return {
    count: counted.reduce((sum, { found }) => sum + (found ?? 0), 0),
    faultCounts: counted.filter(({ isFault }) => isFault).map(({ found }) => found ?? 0),
    reading: counted.find(({ found }) => found === null)?.reading ?? null,
    draw: ({ isFirst, isOnly }: { isFirst: boolean; isOnly: boolean }): ComponentChildren =>
      counted
        .filter((kind) => isFirstOf(kind) === isFirst)
        .map(({ name, List }) => <List key={name} {...props} isOnly={isOnly} />),
  };
}

/** Returns the text while the fleet is being read. Until it is read completely, the page gives no all-clear. */
function readingText(fleet: Fleet, info: FleetInfo | null) {
  const total = Math.min(info?.sensors ?? 0, MOST_SENSORS);
  const read = fleet.sensors.size;
  return total > read && !fleet.isNarrow()
    ? `Reading ${formatCount(read)} of ${formatCount(total)}…`
    : `Reading ${formatCounted(read, 'sensor')}…`;
}

/** @param known `isPart`: the list has only the faults of sensors that match the filters */
function calmText({
  faults: { unjudged, sensorCount, notLiveSensors },
  isPart,
  isStale,
  fleet,
  info,
  judgment,
}: {
  faults: Faults;
  isPart: boolean;
  isStale: boolean;
  fleet: Fleet;
  info: FleetInfo;
  judgment: Judgment | undefined;
}) {
  if (isStale) return judgment?.calm.old ?? 'The values are old.';
  const known = isPart ? sensorCount : fleet.sensors.size;
  if (isPart && known === 0) return 'No sensor matches the filters.';
  if (!judgment) return 'Nothing stands out.';
  return unjudged === 0 && !isPart && info.sensors > known && fleet.overflow() > 0
    ? `Nothing stands out among the ${formatCount(known)} sensors that are shown. ${formatCount(info.sensors - known)} are not.`
    : judgment.calm.textOf({ sensors: known - notLiveSensors, judged: known - notLiveSensors - unjudged });
}

const silentEntry = (sensor: FleetSensor, now: number): Entry => ({
  ...linkTo(sensor),
  text: formatSpan(now - sensor.at),
  tone: 'bad',
});

/** @param isWhole whether all sensors of the fleet were read, so that the sensors of the device are known */
export const offlineEntry = ({ id, name, site, sensors }: FleetDevice, isWhole: boolean): Entry => ({
  key: id,
  href: deviceHref(id, name),
  name,
  owner: site ?? '',
  text: isWhole ? formatCounted(sensors.length, 'sensor') : '',
  tone: 'bad',
});
