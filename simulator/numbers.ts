/** `JSON.stringify` writes -0 as 0, which is another double and would be another stored value. @param value finite */
export const numberText = (value: number) => (Object.is(value, -0) ? '-0' : String(value));
