import { html } from 'htm/preact';
import { useEffect, useId, useState } from 'preact/hooks';

/** A pause in typing after which a text counts as meant. */
const PAUSE_MS = 300;

/**
 * A text to filter by. With `options` it is meant when it is one of them, or when the field is left or Enter is pressed:
 * half a type finds nothing. Without, every pause in typing counts.
 *
 * @param {object} props
 * @param {string} props.label
 * @param {string} props.placeholder
 * @param {string} props.value
 * @param {string[]} [props.options]
 * @param {(value: string) => void} props.onChange
 */
export function FilterField({ label, placeholder, value, options, onChange }) {
  const id = useId();
  const [text, setText] = useState(value);
  // The address changed by other means: back, a link, "clear filters".
  useEffect(() => setText(value), [value]);

  useEffect(() => {
    if (options || text === value) return undefined;
    const timer = setTimeout(() => onChange(text.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, value, options, onChange]);

  /** @param {string} next */
  const type = (next) => {
    setText(next);
    if (next === '' || options?.includes(next)) onChange(next);
  };

  return html`
    <div class="field" data-set=${value !== ''}>
      <label for=${id}>${label}</label>
      <input
        id=${id}
        type="search"
        autocomplete="off"
        spellcheck=${false}
        list=${options ? `${id}-options` : undefined}
        placeholder=${placeholder}
        value=${text}
        onInput=${(/** @type {any} */ event) => type(event.target.value)}
        onChange=${() => onChange(text.trim())}
      />
      ${
        options &&
        html`<datalist id=${`${id}-options`}>${options.map((option) => html`<option value=${option} />`)}</datalist>`
      }
    </div>
  `;
}
