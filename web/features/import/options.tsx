import { useState } from 'preact/hooks';
import { isNamedZone } from '../../format.ts';
import { scopeText, useMay } from '../../state/session.ts';
import { Field } from '../shared/form.tsx';
import type { ImportProposal, ImportQuestion } from './api.ts';

/** An option that describes a file. `choices`: value and text of each; `list`: what the field proposes while typing. */
interface FileOption {
  option: string;
  label: string;
  choices?: Array<[value: string, text: string]>;
  list?: 'columns' | 'zones';
  isCsv?: boolean;
}

const MAIN: FileOption[] = [
  { option: 'time', label: 'Time column', list: 'columns' },
  {
    option: 'time_format',
    label: 'Dates',
    choices: [
      ['', 'ISO 8601 or epoch ms'],
      ['day-first', '31.12.2026, day first'],
      ['month-first', '12/31/2026, month first'],
      ['excel', 'Day numbers of Excel'],
      ['s', 'Epoch in seconds'],
      ['us', 'Epoch in microseconds'],
      ['ns', 'Epoch in nanoseconds'],
    ],
  },
  { option: 'zone', label: 'Time zone', list: 'zones' },
  {
    option: 'decimal',
    label: 'Decimal sign',
    choices: [
      ['', 'Point'],
      ['comma', 'Comma'],
    ],
  },
  {
    option: 'thousands',
    label: 'Thousands',
    choices: [
      ['', 'Not separated'],
      ['point', 'Point'],
      ['comma', 'Comma'],
      ['space', 'Space'],
      ['apostrophe', 'Apostrophe'],
    ],
  },
  { option: 'values', label: 'Value columns', list: 'columns' },
  {
    option: 'units',
    label: 'Units',
    isCsv: true,
    choices: [
      ['', 'None'],
      ['header', 'In the names: Temp [°C]'],
      ['row', 'In the row below the names'],
    ],
  },
];

const MORE: FileOption[] = [
  { option: 'sensor', label: 'Sensor of all rows' },
  { option: 'site', label: 'Site of new devices' },
  { option: 'device_column', label: 'Device column', list: 'columns' },
  { option: 'sensor_column', label: 'Sensor column', list: 'columns' },
  { option: 'type_column', label: 'Type column', list: 'columns' },
  { option: 'unit_column', label: 'Unit column', list: 'columns' },
  { option: 'site_column', label: 'Site column', list: 'columns' },
  { option: 'missing', label: 'Texts without a value' },
  { option: 'header_line', label: 'Line of names', isCsv: true },
  {
    option: 'delimiter',
    label: 'Delimiter',
    isCsv: true,
    choices: [
      ['', 'As found'],
      ['comma', 'Comma'],
      ['semicolon', 'Semicolon'],
      ['tab', 'Tab'],
      ['pipe', 'Pipe'],
    ],
  },
  { option: 'comment', label: 'Comments begin with', isCsv: true },
  {
    option: 'encoding',
    label: 'Encoding',
    choices: [
      ['', 'UTF-8, or as it begins'],
      ['windows-1252', 'Windows-1252'],
      ['utf-16le', 'UTF-16 LE'],
      ['utf-16be', 'UTF-16 BE'],
    ],
  },
];

const DEVICE: FileOption = { option: 'device', label: 'Device' };

/** The zone of this browser. */
const OWN_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Zones of the tz database. Not each browser lists UTC. */
const ZONES = [...new Set([OWN_ZONE, 'UTC', ...Intl.supportedValuesOf('timeZone')])];

type Options = Record<string, string>;

/** Renders the fields of the options. The fields that describe a usual file come first. */
export function FileOptions({
  type,
  columns,
  options,
  onChange,
}: {
  type: string;
  columns: string[];
  options: Options;
  onChange: (options: Options) => void;
}) {
  const isUsable = ({ isCsv }: FileOption) => !isCsv || type === 'text/csv';
  const change = (option: string, value: string) => {
    const { [option]: _, ...others } = options;
    onChange(value === '' ? others : { ...others, [option]: value });
  };
  const fields = (list: FileOption[]) =>
    list
      .filter(isUsable)
      .map((field) => (
        <Field
          key={field.option}
          class="import-option"
          id={`import-${field.option}`}
          label={field.label}
          options={field.choices}
          isLazy
          list={field.list && `import-${field.list}`}
          placeholder={field.option === 'zone' ? 'UTC' : undefined}
          value={options[field.option] ?? ''}
          onValue={(value) => change(field.option, value.trim())}
        />
      ));
  const hasMore = MORE.some(({ option }) => options[option] !== undefined);
  return (
    <>
      <datalist id="import-columns">
        {columns.map((name, index) => (
          <option key={name} value={name || `#${index + 1}`} />
        ))}
      </datalist>
      <datalist id="import-zones">
        {ZONES.map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
      <div class="import-options">{fields(MAIN)}</div>
      <Replacement
        isOn={options['replace'] === 'true'}
        onChange={(isOn) => change('replace', isOn ? 'true' : '')}
      />
      <details open={hasMore}>
        <summary>More about the file</summary>
        <div class="import-options">{fields(MORE)}</div>
      </details>
    </>
  );
}

/** Renders the choice whether the file corrects stored values. */
function Replacement({ isOn, onChange }: { isOn: boolean; onChange: (isOn: boolean) => void }) {
  const may = useMay('correct');
  return (
    <div class="import-replace">
      <label>
        <input
          type="checkbox"
          checked={isOn}
          disabled={!may}
          aria-describedby="import-replace-effect"
          onChange={() => onChange(!isOn)}
        />{' '}
        Replace values that exist
      </label>
      <p id="import-replace-effect">
        {may
          ? 'The file then corrects what is stored for the same sensor and time. Without this, the file adds what is missing. Of two values at one time, a fixed rule keeps one.'
          : scopeText('Replace', 'correct')}
      </p>
    </div>
  );
}

/** An option as the API names it, such as `decimal=comma&thousands=point`. */
const NAMED = /`([a-z_]+=[^`]*)`/g;

/** Replaces the options that a rule of the API names by the labels of their fields: “Decimal sign: Comma”. */
export const inFieldNames = (text: string): string =>
  text.replaceAll(NAMED, (whole, named: string) => {
    const fields = named.split(/&(?=[a-z_]+=)/).map((option) => {
      const [name = ''] = option.split('=', 1);
      const field = [...MAIN, ...MORE, DEVICE].find((known) => known.option === name);
      const value = option.slice(name.length + 1);
      if (!field || value === '…') return field?.label;
      // A value that is no choice is the default, which the field has as an empty text.
      const choice = ['', value].findLast((each) => field.choices?.some(([known]) => known === each));
      return `${field.label}: ${field.choices?.find(([known]) => known === choice)?.[1] ?? value}`;
    });
    return fields.includes(undefined) ? whole : `“${fields.join('”, “')}”`;
  });

export const openQuestions = (proposal: ImportProposal | null, answers: Options): ImportQuestion[] =>
  proposal?.questions.filter(({ option }) => !answers[option]) ?? [];

/** Renders what the first lines of the file do not show, with usual answers. */
export function Questions({
  questions,
  onAnswer,
}: {
  questions: ImportQuestion[];
  onAnswer: (option: string, value: string) => void;
}) {
  if (questions.length === 0) return null;
  function answer(option: string, value: string) {
    onAnswer(option, value);
    // The question disappears with its buttons, so the field that has the answer gets the focus.
    document.getElementById(`import-${option}`)?.focus();
  }
  return (
    <ul class="import-questions" aria-label="Questions about the file">
      {questions.map(({ option, text, choices }) => (
        <li key={option}>
          <span>{text}</span>
          {[...new Set(option === 'zone' ? [OWN_ZONE, ...choices] : choices)].map((choice) => (
            <button key={choice} type="button" class="button" onClick={() => answer(option, choice)}>
              {choice}
            </button>
          ))}
          {option === 'zone' && <ZoneAnswer onAnswer={(zone) => answer(option, zone)} />}
        </li>
      ))}
    </ul>
  );
}

/** Renders a field that searches all zones. */
function ZoneAnswer({ onAnswer }: { onAnswer: (zone: string) => void }) {
  const [isWrong, setWrong] = useState(false);
  return (
    <>
      <input
        type="text"
        class="import-zone"
        list="import-zones"
        autocomplete="off"
        spellcheck={false}
        aria-label="Another zone"
        placeholder="Another, such as Europe/Berlin"
        aria-invalid={isWrong}
        aria-describedby={isWrong ? 'import-zone-problem' : undefined}
        onChange={(event) => {
          const zone = event.currentTarget.value.trim();
          setWrong(zone !== '' && !isNamedZone(zone));
          if (isNamedZone(zone)) onAnswer(zone);
        }}
      />
      {isWrong && (
        <span id="import-zone-problem" class="import-problem" role="alert">
          No zone has this name
        </span>
      )}
    </>
  );
}
