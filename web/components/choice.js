import { html } from 'htm/preact';
import { useId } from 'preact/hooks';

/**
 * One of a few: radio buttons that look like one control, so that arrow keys and screen readers work by themselves.
 *
 * @param {object} props
 * @param {string} props.legend said, not shown
 * @param {{ value: string, label: string, title?: string }[]} props.options
 * @param {string} props.value
 * @param {(value: string) => void} props.onChange
 */
export function Choice({ legend, options, value, onChange }) {
  const group = useId();
  return html`
    <fieldset class="choice">
      <legend class="said">${legend}</legend>
      ${options.map(
        (option) => html`
          <label key=${option.value} title=${option.title}>
            <input
              type="radio"
              name=${group}
              value=${option.value}
              checked=${option.value === value}
              onChange=${() => onChange(option.value)}
            />
            <span>${option.label}</span>
          </label>
        `,
      )}
    </fieldset>
  `;
}
