import { useId } from 'preact/hooks';
import './header.css';

/** Renders a choice of a few options as native radio buttons, so that arrow keys and screen readers work without code. */
export function Choice<Value extends string>({
  legend,
  isTitled = false,
  options,
  value,
  onChange,
}: {
  legend: string;
  /** whether the name is visible; otherwise only screen readers know it */
  isTitled?: boolean;
  options: readonly { value: Value; label: string; title?: string }[];
  value: Value;
  onChange: (value: Value) => void;
}) {
  const group = useId();
  return (
    <fieldset class="choice">
      <legend class={isTitled ? 'choice-title' : 'visually-hidden'}>{legend}</legend>
      {options.map((option) => (
        <label key={option.value} title={option.title}>
          <input
            type="radio"
            name={group}
            value={option.value}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          <span>{option.label}</span>
        </label>
      ))}
    </fieldset>
  );
}
