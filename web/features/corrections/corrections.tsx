import { useState } from 'preact/hooks';
import { FilterField, ListSwitch, useFilter } from '../../kit/list-controls.tsx';
import { Notice, ProblemNotice, SlowLine } from '../../kit/notice.tsx';
import { useQuery, useServices, useTitle } from '../../state/hooks.ts';
import { useEvents, useFiguresAlone } from '../../state/live.ts';
import type { Correction } from './api.ts';
import { readCorrections } from './api.ts';
import { CORRECTION_EVENT } from './event.ts';
import { JobStatus } from './job-status.tsx';
import { CorrectionTable, useDevices } from './table.tsx';
import '../shared/tables.css';
import './corrections.css';

const PAGE_ROWS = 50;
const REFRESH = { refreshMs: 30_000 };

/** Renders the log of all corrections, or of those of one device. */
export function CorrectionsView() {
  const { client, live, router } = useServices();
  const [pages, setPages] = useState(1);
  const [message, setMessage] = useState('');
  const setDevice = useFilter('device');
  const device = router.place.value.query.get('device') ?? '';
  useFiguresAlone();
  useTitle('Corrections');
  // A page alone does not know which of its corrections are undone, so the pages before it stay.
  const { data, problem, loading, slow, reload } = useQuery(
    `corrections ${device} ${pages} ${live.historyChanges.value}`,
    async (signal) => {
      const items: Correction[] = [];
      let cursor: string | null = null;
      for (let page = 0; page < pages && (page === 0 || cursor !== null); page++) {
        const read = await readCorrections(client, { limit: PAGE_ROWS, device, cursor }, signal);
        items.push(...read.items);
        cursor = read.next;
      }
      return { device, items, isAll: cursor === null };
    },
    REFRESH,
  );
  useEvents(CORRECTION_EVENT, reload);
  const isOfDevice = data?.device === device;
  const rows = isOfDevice ? data.items : null;
  const devices = useDevices(rows);

  return (
    <>
      <div class="title">
        <div>
          <h1>Corrections</h1>
          <p class="lead">Who replaced or removed stored values, and why.</p>
        </div>
      </div>
      <section class="panel" aria-label="Corrections" aria-busy={loading}>
        <div class="list-head">
          <ListSwitch shown="corrections" />
          <div class="filters">
            <FilterField label="Device" placeholder="name or id" value={device} onChange={setDevice} />
          </div>
        </div>
        <JobStatus message={message} />
        {slow && <SlowLine />}
        {problem ? (
          <ProblemNotice problem={problem} onRetry={reload} />
        ) : rows?.length === 0 ? (
          <NoCorrections device={device} />
        ) : (
          <CorrectionTable rows={rows} all={rows ?? []} devices={devices} onUndone={setMessage} />
        )}
        {rows && data && !data.isAll && (
          <p class="correction-more">
            <button type="button" class="button" disabled={loading} onClick={() => setPages(pages + 1)}>
              Show older
            </button>
          </p>
        )}
      </section>
    </>
  );
}

const NoCorrections = ({ device }: { device: string }) => (
  <Notice title={device === '' ? 'Nothing was corrected yet' : 'No correction of this device'}>
    <p>
      Open a sensor or a device, and show the range that is wrong. Below the chart are the buttons{' '}
      <b>Correct values…</b> and <b>Remove values…</b>. A file replaces many values.
    </p>
    <p>
      <a class="button" href="/docs/how-to/correct-measurements" data-native>
        How to correct measurements
      </a>
    </p>
  </Notice>
);
