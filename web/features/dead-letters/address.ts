export const deadLetterHref = (id: string): string => `/dead-letters?id=${encodeURIComponent(id)}`;
