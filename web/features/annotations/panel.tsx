import { useMemo, useState } from 'preact/hooks';
import { problemWords, toProblem } from '../../api/request.ts';
import { formatDateTime, formatField, formatZone, parseField } from '../../format.ts';
import { useQuery, useServices } from '../../state/hooks.ts';
import { scopeText, useMay } from '../../state/session.ts';
import { useChartMarks } from '../shared/chart-marks.ts';
import { Field, FormDialog } from '../shared/form.tsx';
import { missingBefore } from '../shared/missing.ts';
import { annotate, readAnnotations, removeAnnotation } from './api.ts';
import '../../chart/chart.css';
import './annotations.css';
import type { Problem } from '../../api/request.ts';
import type { ChartSubject } from '../../feature.ts';
import type { Zone } from '../../format.ts';
import type { Annotation } from './api.ts';

/** Marks the annotations of the devices and of the installation. On the page of a device or sensor, a panel lists them. */
export function useChart({ devices, device, range, at }: ChartSubject) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const { annotations, missing, isKnown, problem, reload } = useAnnotations(devices, range);
  const marks = useMemo(() => annotations.map((annotation) => markOf(annotation, zone)), [annotations, zone]);
  const plugins = useChartMarks(marks);
  if (device === null) return { plugins, note: <MissingAnnotations before={missing} /> };
  const panel = <Annotations {...{ annotations, missing, isKnown, problem, device, at }} onChange={reload} />;
  return { plugins, panel };
}

function markOf({ ts, text }: Annotation, zone: Zone) {
  const from = Date.parse(ts);
  const when = formatDateTime(from, zone);
  const label = `Annotation at ${when}: ${text}`;
  return { kind: 'annotation' as const, from, to: from, text: `${when} · ${text}`, label };
}

/** Renders the annotations of the range as a list, and a button to add an annotation. The chart above shows the annotations as marks. */
function Annotations({
  annotations,
  missing,
  isKnown,
  problem,
  device,
  at,
  onChange,
}: {
  annotations: Annotation[];
  /** time in epoch ms before which annotations may be missing; null: all annotations were read */
  missing: number | null;
  isKnown: boolean;
  problem: Problem | null;
  device: { id: string; name: string };
  /** default time of a new annotation, in epoch ms */
  at: number;
  onChange: () => void;
}) {
  const may = useMay('admin');
  const [isAdding, setAdding] = useState(false);
  return (
    <section class="panel annotations below-chart" aria-label="Annotations">
      <div class="annotations-head">
        <h2>Annotations</h2>
        <button
          type="button"
          class="button"
          aria-haspopup="dialog"
          disabled={!may}
          title={may ? undefined : scopeText('Annotate', 'admin')}
          onClick={() => setAdding(true)}
        >
          Annotate…
        </button>
      </div>
      {(annotations.length === 0 || problem) && <p class="annotations-none">{noneText(isKnown, problem)}</p>}
      {annotations.length > 0 && (
        <ul>
          {annotations.map((annotation) => (
            <Entry key={annotation.id} annotation={annotation} may={may} onRemove={onChange} />
          ))}
        </ul>
      )}
      <MissingAnnotations before={missing} />
      {isAdding && (
        <AnnotateDialog device={device} at={at} onClose={() => setAdding(false)} onDone={onChange} />
      )}
    </section>
  );
}

/**
 * Shows a note that older annotations are missing.
 *
 * @param props `before`: time in epoch ms before which annotations are missing; null: no annotation is missing
 */
function MissingAnnotations({ before }: { before: number | null }) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  if (before === null) return null;
  return <p class="annotations-none">Not all annotations before {formatDateTime(before, zone)} are shown.</p>;
}

function noneText(isKnown: boolean, problem: Problem | null): string {
  if (isKnown) return 'None in this range.';
  return problem ? `They cannot be read: ${problemWords(problem).title}.` : 'Reading annotations…';
}

function Entry({
  annotation,
  may,
  onRemove,
}: {
  annotation: Annotation;
  may: boolean;
  onRemove: () => void;
}) {
  const { client, preferences } = useServices();
  const { zone } = preferences.choice.value;
  const [problem, setProblem] = useState<Problem | null>(null);
  const { ts, text, device_id } = annotation;
  const remove = () =>
    removeAnnotation(client, annotation).then(onRemove, (error) => setProblem(toProblem(error)));
  return (
    <li>
      <time datetime={ts}>{formatDateTime(Date.parse(ts), zone)}</time>
      <p>
        {text} {device_id === null && <span class="quiet">whole installation</span>}
        {problem && <span role="alert"> {problemWords(problem).title}.</span>}
      </p>
      {may && (
        <button
          type="button"
          class="button quiet-button"
          aria-label={`Remove annotation: ${text}`}
          onClick={() => void remove()}
        >
          Remove
        </button>
      )}
    </li>
  );
}

function AnnotateDialog({
  device,
  at,
  onClose,
  onDone,
}: {
  device: { id: string; name: string };
  at: number;
  onClose: () => void;
  onDone: () => void;
}) {
  const { client, preferences } = useServices();
  const { zone } = preferences.choice.value;
  const [text, setText] = useState('');
  const [when, setWhen] = useState(formatField(at, zone));
  const [isOfDevice, setOfDevice] = useState(true);
  const ts = parseField(when, zone);

  async function store() {
    await annotate(client, { text: text.trim(), ts: Number(ts), ...(isOfDevice && { device: device.id }) });
    onDone();
    onClose();
  }

  return (
    <FormDialog
      title="Annotate"
      submit="Store"
      busyLabel="Storing…"
      isReady={ts !== null && text.trim() !== ''}
      onSubmit={store}
      onClose={onClose}
    >
      <Field label="Text" value={text} onValue={setText} maxlength={500} isFocused required />
      <Field
        label={`Time, ${formatZone(zone, at)}`}
        type="datetime-local"
        step="1"
        required
        value={when}
        onValue={setWhen}
      />
      <label class="annotate-scope">
        <input type="checkbox" checked={!isOfDevice} onChange={() => setOfDevice(!isOfDevice)} /> About the
        whole installation, not only {device.name}
      </label>
    </FormDialog>
  );
}

/** Maximum number of annotations that are read, for each device and for the installation. */
const LIMIT = 200;
const REFRESH = { refreshMs: 30_000 };

/**
 * Reads the annotations of some devices and of the installation within a range of time.
 *
 * @param window range from the address; after a change, the annotations are read again
 */
function useAnnotations(
  devices: readonly string[],
  { live, from, to }: { live: boolean; from: number; to: number },
) {
  const { client } = useServices();
  const range = live ? `${to - from}` : `${from}/${to}`;
  const { data, problem, loading, reload } = useQuery(
    `${devices.join(' ')} ${range}`,
    async (signal) => {
      const query = { from, to: live ? null : to, limit: LIMIT };
      const owners = [null, ...devices];
      const pages = await Promise.all(
        owners.map((device) => readAnnotations(client, { ...query, device }, signal)),
      );
      return {
        annotations: newestFirst(pages.flatMap(({ items }) => items)),
        missing: missingBefore(pages, ({ ts }) => ts),
      };
    },
    REFRESH,
  );
  // While a new range is read, `data` still holds the annotations of the previous range.
  const isKnown = data !== null && !loading && problem === null;
  return { ...(data ?? NOTHING_READ), isKnown, problem, reload };
}

const NONE: Annotation[] = [];
const NOTHING_READ = { annotations: NONE, missing: null };

const newestFirst = (annotations: Annotation[]): Annotation[] =>
  annotations.toSorted((a, b) => (a.ts === b.ts ? a.text.localeCompare(b.text) : a.ts < b.ts ? 1 : -1));
