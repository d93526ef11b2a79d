import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { problemWords } from '../../api/request.ts';
import type { ChartSubject } from '../../feature.ts';
import type { Zone } from '../../format.ts';
import { formatCount, formatDateTime } from '../../format.ts';
import { deviceHref } from '../../routes.ts';
import { useKept, useQuery, useServices } from '../../state/hooks.ts';
import { useEvents } from '../../state/live.ts';
import { scopeText, useMay } from '../../state/session.ts';
import { useChartMarks } from '../shared/chart-marks.ts';
import { missingBefore } from '../shared/missing.ts';
import type { Correction } from './api.ts';
import { readCorrections } from './api.ts';
import { CorrectDialog } from './correct-dialog.tsx';
import { CORRECTION_EVENT } from './event.ts';
import { createJobs } from './job.ts';
import { JobStatus } from './job-status.tsx';
import { RemoveDialog } from './remove-dialog.tsx';
import { correctionText, inEffect, joinParts, rangeText } from './rules.ts';
import { CorrectionTable, useDevices } from './table.tsx';
import '../shared/tables.css';
import './corrections.css';

/** On the pages of devices and sensors, marks corrected ranges in charts. A panel lists the corrections, and begins new ones. */
export function useChart({ device, sensor, range }: ChartSubject) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const { all, missing, problem } = useCorrections(device?.id ?? null, range);
  const id = sensor?.sensor_id ?? null;
  // Marks do not depend on the range: a live range moves each second, and a new mark would lose the focus.
  const marks = useMemo(() => marksOf(all, id, zone), [all, id, zone]);
  const plugins = useChartMarks(marks);
  if (device === null) return { plugins };
  const panel = (
    <Panel
      {...{ all, missing, device, range }}
      sensor={id}
      problem={problem && problemWords(problem).title}
    />
  );
  return { plugins, panel };
}

/** @param sensor null: all sensors of the device */
const isOf = ({ sensor_ids }: Correction, sensor: string | null) =>
  sensor === null || sensor_ids.includes(sensor);

function marksOf(all: Correction[], sensor: string | null, zone: Zone) {
  const effective = inEffect(all);
  const shown = all.filter(
    (correction) => correction.kind !== 'undo' && effective.has(correction.id) && isOf(correction, sensor),
  );
  return joinParts(shown, effective).map((correction) => {
    const range = { from: Date.parse(correction.from), to: Date.parse(correction.to) };
    const reason = correction.reason ? `: ${correction.reason}` : '';
    const text = `${correctionText(correction)}, ${rangeText(range, zone)}${reason}`;
    return { kind: 'correction' as const, ...range, text, label: text };
  });
}

/** Number of corrections that the panel lists. */
const LISTED = 5;

function Panel({
  all,
  missing,
  problem,
  device,
  sensor,
  range,
}: {
  all: Correction[];
  missing: number | null;
  problem: string | null;
  device: { id: string; name: string };
  sensor: string | null;
  range: { from: number; to: number };
}) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const jobs = useKept(createJobs);
  const may = useMay('correct');
  const [asked, setAsked] = useState<'correct' | 'remove' | null>(null);
  const [message, setMessage] = useState('');
  const effective = inEffect(all);
  const inRange = all.filter(
    (correction) =>
      isOf(correction, sensor) &&
      Date.parse(correction.from) < range.to &&
      Date.parse(correction.to) > range.from,
  );
  const shown = joinParts(inRange, effective);
  const devices = useDevices(sensor === null ? shown.slice(0, LISTED) : null);
  // A name that no address can hold has no page of its own.
  const [, part = device.id] = deviceHref(device.id, device.name).split('/devices/');
  const isBusy = jobs.isBusy();
  const open = (dialog: 'correct' | 'remove', label: string) => (
    <button
      type="button"
      class="button"
      aria-haspopup="dialog"
      disabled={!may}
      aria-disabled={isBusy}
      title={may ? (isBusy ? 'Another correction has not ended' : undefined) : scopeText(label, 'correct')}
      onClick={() => {
        if (isBusy) return;
        setMessage('');
        setAsked(dialog);
      }}
    >
      {label}…
    </button>
  );
  const dialog = { device, sensor: sensor ?? '', range, onClose: () => setAsked(null) };
  return (
    <section class="panel below-chart" aria-label="Corrections">
      <div class="correction-head">
        <h2>Corrections</h2>
        <a class="link" href={`/corrections?device=${part}`}>
          Log of {device.name}
        </a>
        <span class="correction-buttons">
          {open('correct', 'Correct values')}
          {open('remove', 'Remove values')}
        </span>
      </div>
      <JobStatus message={message} />
      {!may && <p class="correction-note">{scopeText('Correct values', 'correct')}</p>}
      {problem !== null && <p class="correction-note">They cannot be read: {problem}.</p>}
      {shown.length > 0 && (
        <CorrectionTable
          rows={shown.slice(0, LISTED)}
          effective={effective}
          devices={sensor === null ? devices : null}
          onUndone={setMessage}
        />
      )}
      {shown.length === 0 && problem === null && <p class="correction-note">None in this range.</p>}
      {shown.length > LISTED && (
        <p class="correction-note">The log has {formatCount(shown.length - LISTED)} more of this range.</p>
      )}
      {missing !== null && (
        <p class="correction-note">Those made before {formatDateTime(missing, zone)} are only in the log.</p>
      )}
      {asked === 'remove' && <RemoveDialog {...dialog} />}
      {asked === 'correct' && <CorrectDialog {...dialog} onDone={setMessage} />}
    </section>
  );
}

/** Maximum number of corrections that are read. */
const LIMIT = 500;
const REFRESH = { refreshMs: 30_000 };
const NOTHING_READ = { all: [] as Correction[], missing: null, scope: '', changes: 0, newest: undefined };

/** Samples are corrected after they are measured. The clock of a device may be some time ahead. */
const AHEAD_MS = 86_400_000;

/**
 * Reads the corrections of a device. After one of another page, charts and tables read again.
 *
 * @returns newest first; `missing`: time in epoch ms before which some are missing; null: none is missing
 */
function useCorrections(device: string | null, { live: isLive, from, to }: ChartSubject['range']) {
  const { client, live } = useServices();
  const scope = `${device} ${isLive ? to - from : from}`;
  const changes = live.historyChanges.value;
  const { data, problem, reload } = useQuery(
    `${scope} ${changes}`,
    async (signal) => {
      if (device === null) return NOTHING_READ;
      const page = await readCorrections(client, { device, from: from - AHEAD_MS, limit: LIMIT }, signal);
      const newest = page.items[0]?.id;
      return {
        all: page.items,
        missing: missingBefore([page], ({ accepted_at }) => accepted_at),
        scope,
        changes,
        newest,
      };
    },
    REFRESH,
  );
  useEvents(CORRECTION_EVENT, reload);
  const before = useRef(data);
  useEffect(() => {
    const isSame = before.current?.scope === data?.scope && before.current?.changes === data?.changes;
    if (data && isSame && before.current?.newest !== data.newest) live.historyChanges.value++;
    before.current = data;
  }, [data]);
  return { ...(data ?? NOTHING_READ), problem };
}
