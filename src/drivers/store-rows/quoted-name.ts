/** A name of a table or column as it stands in SQL, whatever is in it. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
