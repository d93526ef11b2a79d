import type { ComponentChildren } from 'preact';
import { NOTHING } from '../../format.ts';
import './figure.css';

/** Number of characters above which a text is written smaller, because counters have many digits. */
const MAX_LARGE_CHARACTERS = 10;

export function Figure({
  label,
  value,
  unit = '',
  second = '',
  secondUnit = '',
  tone,
  isOld = false,
  children,
}: {
  label: string;
  value: string;
  unit?: string;
  second?: string;
  secondUnit?: string;
  tone?: 'warn' | undefined;
  /** the figure is no longer updated */
  isOld?: boolean;
  children?: ComponentChildren;
}) {
  return (
    <div class="figure" data-tone={tone} data-stale={isOld}>
      <dt>{label}</dt>
      <dd>
        <span
          class="figure-value"
          data-none={value === NOTHING}
          data-long={value.length > MAX_LARGE_CHARACTERS}
        >
          {value}
        </span>
        {unit && <span class="figure-unit small">{unit}</span>}
        {second && (
          <span class="figure-second">
            <span class="figure-second-value">{second}</span>
            <span class="figure-unit small">{secondUnit}</span>
          </span>
        )}
      </dd>
      {children && <dd class="figure-picture">{children}</dd>}
    </div>
  );
}
