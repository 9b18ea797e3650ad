/** Finds secrets by their place in files: pgpass, Kubernetes secrets, SQL and CSV columns. */
import { isPlaceholder, isReference } from './placeholder.ts'
import { isSecretValue } from './plausible-value.ts'
import { strengthOfName } from './secret-names.ts'
import type { RedactionSpan } from './span.ts'

const PGPASS = /^[\w.*-]{1,200}:(?:\d{2,5}|\*):[^\s:]{1,100}:[^\s:]{1,100}:((?:\\.|[^\s:\\]){4,200})$/my

/** The places in a text that may hold records, by their triggers. */
export const RECORD_TRIGGERS: ReadonlyMap<string, (text: string, at: number, spans: RedactionSpan[]) => void> = new Map(
  [
    [':*:', findInPgpass],
    [':54', findInPgpass],
    ['kin', findInKubernetesSecret],
    ['ins', findInInsert],
  ],
)

function findInPgpass(text: string, at: number, spans: RedactionSpan[]): void {
  PGPASS.lastIndex = text.lastIndexOf('\n', at) + 1
  const found = PGPASS.exec(text)
  if (found) add(found, spans)
}

function add(found: RegExpMatchArray, spans: RedactionSpan[]): void {
  const value = found[1] ?? ''
  if (isPlaceholder(value)) return
  const start = (found.index ?? 0) + found[0].lastIndexOf(value)
  spans.push({ start, end: start + value.length, kind: 'setting' })
}

const DATA_BLOCK = /^([ \t]*)(?:data|stringData):[ \t]*\r?\n((?:\1[ \t]+\S[^\n]*(?:\r?\n|$))+)/gm
const DATA_LINE = /^[ \t]+["']?[\w.-]+["']?:[ \t]*["']?([^\s"'|>{][^\s"']{3,8000})/gm

const KIND = /kind["']?:\s*["']?Secret\b/y

/** Every value of a Kubernetes secret is one. */
function findInKubernetesSecret(text: string, at: number, spans: RedactionSpan[]): void {
  KIND.lastIndex = at
  if (!KIND.test(text)) return
  const from = Math.max(0, text.lastIndexOf('\n---', at))
  const next = text.indexOf('\n---', at)
  const document = text.slice(from, Math.min(next < 0 ? text.length : next, at + 200_000))
  for (const block of document.matchAll(DATA_BLOCK)) {
    const offset = from + block.index + block[0].length - (block[2]?.length ?? 0)
    for (const line of (block[2] ?? '').matchAll(DATA_LINE)) {
      const value = line[1] ?? ''
      const start = offset + line.index + line[0].lastIndexOf(value)
      if (!isPlaceholder(value)) spans.push({ start, end: start + value.length, kind: 'setting' })
    }
  }
}

const IDENTIFIED = /identified\s+(?:with\s+\S+\s+)?by\s+(?:password\s+)?(['"])([^"'`\s;]{3,200})\1/iy

/** `IDENTIFIED BY 'x'` of SQL. */
export function findIdentifiedBy(text: string, at: number, spans: RedactionSpan[]): void {
  IDENTIFIED.lastIndex = at
  const found = IDENTIFIED.exec(text)
  const value = found?.[2]
  if (!found || value === undefined || isPlaceholder(value) || isReference(value)) return
  const start = at + found[0].lastIndexOf(value)
  spans.push({ start, end: start + value.length, kind: 'setting' })
}

const INSERT =
  /insert\s+into\s+[\w."`[\]]{1,80}\s*\(([^()]{1,1000})\)\s*values\s*((?:\([^()]{1,4000}\)\s*,?\s*){1,200})/iy
const SQL_VALUE = /'((?:[^'\\]|''|\\.)*)'|"((?:[^"\\]|\\.)*)"|[^,()'"\s][^,()]*/g

function findInInsert(text: string, at: number, spans: RedactionSpan[]): void {
  INSERT.lastIndex = at
  const found = INSERT.exec(text)
  if (!found) return
  const [all, columns = '', rows = ''] = found
  const secret = columns.split(',').map((name) => strengthOfName(name.replace(/[^\w]/g, '')))
  const offset = at + all.length - rows.length
  for (const row of rows.matchAll(/\(([^()]*)\)/g)) {
    let column = 0
    for (const value of (row[1] ?? '').matchAll(SQL_VALUE)) {
      const strength = secret[column++]
      const inner = value[1] ?? value[2]
      if (strength === undefined || inner === undefined || !isSecretValue(inner, strength, 'quoted')) continue
      const start = offset + row.index + 1 + value.index + 1
      spans.push({ start, end: start + inner.length, kind: 'setting' })
    }
  }
}

const CSV_HEADER =
  /^[\w "-]{0,200}(?:^|[,;\t])"?(?:[\w ]{0,30}(?:password|passwd|secret|api[_ ]?key|token|access key))"?(?:[,;\t][\w "]{0,60})*\r?$/im
/** A header is within so many characters. */
export const MAX_HEADER = 1000
const MAX_ROWS = 2000

/** Columns below a header that names one a secret. The header is near the beginning of a text. */
export function findInCsv(text: string, spans: RedactionSpan[]): void {
  const header = CSV_HEADER.exec(text.slice(0, MAX_HEADER))
  const line = header?.[0].split('\n').at(-1) ?? ''
  const sign = /[,;\t]/.exec(line)?.[0]
  if (!header || sign === undefined) return
  const strengths = line
    .split(sign)
    .map((name) => strengthOfName(name.replace(/["\r]/g, '').trim().replaceAll(' ', '_')))
  let at = header.index + header[0].length + 1
  for (let row = 0; row < MAX_ROWS && at < text.length; row++) {
    const end = text.indexOf('\n', at) < 0 ? text.length : text.indexOf('\n', at)
    const cells = text.slice(at, end).replace(/\r$/, '').split(sign)
    if (cells.length !== strengths.length) return
    let from = at
    for (const [column, cell] of cells.entries()) {
      const strength = strengths[column]
      const value = cell.replace(/^"|"$/g, '')
      const start = from + cell.indexOf(value)
      if (strength !== undefined && isSecretValue(value, strength, 'quoted'))
        spans.push({ start, end: start + value.length, kind: 'setting' })
      from += cell.length + 1
    }
    at = end + 1
  }
}
