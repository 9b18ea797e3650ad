/** Tables as CSV (RFC 4180). */

export type Table = readonly { readonly [column: string]: string | number | null }[]

export function csvOf(table: Table): string {
  const [first] = table
  if (!first) return ''
  const columns = Object.keys(first)
  const rows = table.map((row) => columns.map((column) => cellOf(row[column] ?? '')))
  return [columns, ...rows].map((row) => `${row.join(',')}\r\n`).join('')
}

/** Spreadsheets take some beginnings for formulas: names come from logs, which anybody may have written. */
function cellOf(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
