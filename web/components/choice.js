import { html } from 'htm/preact';
import { useId } from 'preact/hooks';

/**
 * One of a few: radio buttons that look like one control, so that arrow keys and screen readers work by themselves.
 *
 * @param {object} props
 * @param {string} props.legend said, not shown
 * @param {{ value: string, label: string, note?: string, title?: string, icon?: string }[]} props.options
 *   `note`: goes with the label, and is only said where there is little room; `icon`: path of a drawing of 16 by 16,
 *   shown in place of the label
 * @param {string} props.value
 * @param {(value: string) => void} props.onChange
 */
export function Choice({ legend, options, value, onChange }) {
  const group = useId();
  return html`
    <fieldset class="choice">
      <legend class="visually-hidden">${legend}</legend>
      ${options.map(
        (option) => html`
          <label key=${option.value} title=${option.title ?? (option.icon && option.label)}>
            <input
              type="radio"
              name=${group}
              value=${option.value}
              checked=${option.value === value}
              onChange=${() => onChange(option.value)}
            />
            <span>${option.icon && html`<${Icon} path=${option.icon} />`}<span class=${option.icon ? 'visually-hidden' : ''}>${option.label}${option.note && html`<span class="choice-note"> ${option.note}</span>`}</span></span>
          </label>
        `,
      )}
    </fieldset>
  `;
}

/** @param {{ path: string }} props */
const Icon = ({ path }) =>
  html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d=${path} /></svg>`;
