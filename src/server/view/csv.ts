/** Tables as CSV (RFC 4180). */

export type CsvTable = readonly { readonly [column: string]: string | number | null }[]

export function toCsv(table: CsvTable): string {
  const [first] = table
  if (!first) return ''
  const columns = Object.keys(first)
  const rows = table.map((row) => columns.map((column) => formatCell(row[column] ?? '')))
  return [columns, ...rows].map((row) => `${row.join(',')}\r\n`).join('')
}

/**
 * Spreadsheets take some beginnings for formulas, also in their fullwidth forms and behind blanks, controls, quote marks or letters
 * without width: names come from logs, which anybody may have written. Such cells begin with an apostrophe.
 */
const FORMULA =
  /^[\s\p{Cc}\p{Cf}\p{Zs}"'\u2018\u2019\u201c\u201d\uff02\uff07]*[=+\-@\uff1d\uff0b\uff0d\uff20\u2212\ufe62\ufe63\ufe66\ufe6b]|^[\t\r\n]/u

function formatCell(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const text = FORMULA.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text
}
