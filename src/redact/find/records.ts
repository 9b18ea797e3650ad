/** Finds secrets by their place in files: pgpass, Kubernetes secrets, SQL and CSV columns. */
import { isPlaceholder, isReference } from './placeholder.ts'
import { isSecretValue } from './plausible-value.ts'
import { type NameStrength, strengthOfName } from './secret-names.ts'
import type { RedactionSpan } from './span.ts'

const PGPASS = /^[\w.*-]{1,200}:(?:\d{2,5}|\*):[^\s:]{1,100}:[^\s:]{1,100}:((?:\\.|[^\s:\\]){4,200})$/my

/** The places in a text that may hold records, by their triggers. */
export const RECORD_TRIGGERS: ReadonlyMap<string, (text: string, at: number, spans: RedactionSpan[]) => void> = new Map(
  [
    [':*:', findInPgpass],
    [':54', findInPgpass],
    ['jdbc:oracle', (text, at, spans) => findWith(ORACLE_ADDRESS, text, at, spans)],
    ['password for ', (text, at, spans) => findWith(SET_PASSWORD, text, at, spans)],
    ['@tcp(', findInGoAddress],
    ['@unix(', findInGoAddress],
    ['kind', findInKubernetesSecret],
    ['inser', findInInsert],
    ['<string>', findInPropertyList],
    ['form-data', findInFormData],
    ['"kty"', findInWebKey],
    ['phrase', findMnemonic],
    ['mnemonic', findMnemonic],
    ['chpasswd:', findInUserList],
  ],
)

function findInPgpass(text: string, at: number, spans: RedactionSpan[]): void {
  PGPASS.lastIndex = text.lastIndexOf('\n', at) + 1
  const found = PGPASS.exec(text)
  if (found) add(found, spans)
}

const ORACLE_ADDRESS = /jdbc:oracle:\w{2,8}:[\w$#-]{1,60}\/([^\s@"'/]{3,100})@/iy
const SET_PASSWORD = /password\s+for\s+[^\s=]{1,80}\s*=\s*(?:password\s*\()?'([^'\n]{3,200})'/iy

function findWith(pattern: RegExp, text: string, at: number, spans: RedactionSpan[]): void {
  pattern.lastIndex = at
  const found = pattern.exec(text)
  if (found && !isReference(found[1] ?? '')) add(found, spans)
}

/** `user:password@tcp(host)`, as drivers of Go write it. */
const GO_LOGIN = /(?:^|[\s"'`=/])[\w.-]{1,60}:([^\s"'`@]{3,100})$/

function findInGoAddress(text: string, at: number, spans: RedactionSpan[]): void {
  const value = GO_LOGIN.exec(text.slice(Math.max(0, at - 170), at))?.[1]
  if (value !== undefined && !isReference(value) && !isPlaceholder(value))
    spans.push({ start: at - value.length, end: at, kind: 'basicauth' })
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

const IDENTIFIED = /identified\s+(?:with\s+\S+\s+)?by\s+(?:(?:password|values)\s+)?(['"])([^"'`\s;]{3,200})\1/iy

/** Oracle's form. */
const IDENTIFIED_UNQUOTED = /identified\s+by\s+([A-Za-z][^\s"'`;,()<>]{2,127}?)(?=[.:]?(?:[\s"'`;,)]|$))/iy
/** Anywhere else, the words are prose. */
const BEFORE_IDENTIFIED =
  /(?:(?:create|alter)\s+(?:user|role)\s+(?:if\s+(?:not\s+)?exists\s+)?|grant\s[^;]{1,200}\sto\s+)[^\s;]{1,200}\s+$/i

/** `IDENTIFIED BY 'x'` of SQL, and `CREATE USER a IDENTIFIED BY x` of Oracle. */
export function findIdentifiedBy(text: string, at: number, spans: RedactionSpan[]): void {
  IDENTIFIED.lastIndex = IDENTIFIED_UNQUOTED.lastIndex = at
  const found = IDENTIFIED.exec(text) ?? IDENTIFIED_UNQUOTED.exec(text)
  const value = found?.[2] ?? found?.[1]
  if (!found || value === undefined || isPlaceholder(value) || isReference(value)) return
  if (found[2] === undefined && !BEFORE_IDENTIFIED.test(text.slice(Math.max(0, at - 400), at))) return
  const start = at + found[0].lastIndexOf(value)
  spans.push({ start, end: start + value.length, kind: 'setting' })
}

const PROPERTY = /<key>([^<>\n]{1,80})<\/key>\s{0,200}$/

/** `<key>name</key><string>x</string>`. */
function findInPropertyList(text: string, at: number, spans: RedactionSpan[]): void {
  const name = PROPERTY.exec(text.slice(Math.max(0, at - 300), at))?.[1]
  const end = text.indexOf('<', at + 8)
  const strength = name === undefined ? undefined : strengthOfName(name)
  if (strength === undefined || end < 0 || end - at > 4000) return
  if (isSecretValue(text.slice(at + 8, end), strength, 'quoted')) spans.push({ start: at + 8, end, kind: 'setting' })
}

const FORM_DATA = /form-data;\s?name=\\?"([\w.[\]-]{1,80})\\?"(?:\r?\n|\\r\\n|\\n){2}([^\s\\]{4,400})/iy

function findInFormData(text: string, at: number, spans: RedactionSpan[]): void {
  FORM_DATA.lastIndex = at
  const [all = '', name = '', value = ''] = FORM_DATA.exec(text) ?? []
  const strength = strengthOfName(name)
  if (strength === undefined || !isSecretValue(value, strength, 'quoted')) return
  spans.push({ start: at + all.length - value.length, end: at + all.length, kind: 'setting' })
}

const WEB_KEY = /"(?:d|p|q|dp|dq|qi|k)"\s?:\s?"([\w-]{20,2000})"/g

/** The private parts of a JSON web key. */
function findInWebKey(text: string, at: number, spans: RedactionSpan[]): void {
  const from = Math.max(0, text.lastIndexOf('{', at))
  const to = text.indexOf('}', at)
  for (const part of text.slice(from, to < 0 ? at + 8000 : Math.min(to, at + 8000)).matchAll(WEB_KEY)) {
    const start = from + part.index + part[0].length - 1 - (part[1]?.length ?? 0)
    spans.push({ start, end: start + (part[1]?.length ?? 0), kind: 'privatekey' })
  }
}

const MNEMONIC =
  /(?:phrase|mnemonic)["'`*]{0,3}[ \t]{0,3}(?:is|are|[:=])[ \t]{0,3}["'`]?((?:[a-z]{3,8} ){11,23}[a-z]{3,8})(?![a-z])/iy

function findMnemonic(text: string, at: number, spans: RedactionSpan[]): void {
  MNEMONIC.lastIndex = at
  const [all = '', words = ''] = MNEMONIC.exec(text) ?? []
  // Prose has short words that no word list contains.
  if (words === '' || /\b(?:the|and|for|you|are|was|this|that|with|from|can|not|has|its)\b/.test(words)) return
  spans.push({ start: at + all.length - words.length, end: at + all.length, kind: 'mnemonic' })
}

const USER_LIST =
  /chpasswd:[ \t]*\r?\n(?:[ \t]+\w+:[^\n]*\n){0,3}?[ \t]+(?:list|users):[ \t]*\|?[ \t]*\r?\n((?:[ \t]+(?:- )?[\w-]{1,32}:\S{4,200}[ \t]*(?:\r?\n|$)){1,100})/iy

/** Users and passwords of cloud-init. */
function findInUserList(text: string, at: number, spans: RedactionSpan[]): void {
  USER_LIST.lastIndex = at
  const [all = '', users = ''] = USER_LIST.exec(text) ?? []
  for (const { 0: line, 1: value = '', index } of users.matchAll(/:(\S+)/g))
    if (!isReference(value) && !isPlaceholder(value) && !/^(?:R|RANDOM)$/.test(value)) {
      const start = at + all.length - users.length + index + line.length - value.length
      spans.push({ start, end: start + value.length, kind: 'setting' })
    }
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

/** A header is within so many characters. */
export const MAX_HEADER = 1000
const MAX_ROWS = 2000
const MAX_COLUMNS = 60
const COLUMN_NAME = /^"?[A-Za-z\p{L}][\p{L}\w .()/ー・-]{0,40}"?$/u
const EASTERN =
  'パスワード|暗証番号|シークレット|(?:アクセス|API|認証)トークン|(?:API|アクセス|秘密|シークレット)キー|密码|密钥|비밀번호'
/** Columns of passwords and keys in tables without Latin letters. */
export const EASTERN_COLUMN = new RegExp(EASTERN)
const IS_EASTERN_COLUMN = new RegExp(`^[\\p{L}]{0,6}(?:${EASTERN})$`, 'u')
const RULE = /^[\s|:+-]+$/

/** Columns below a header that names one a secret, in CSV and in Markdown. The header is near the beginning of a text. @param firstName of a secret: no line before it is a header */
export function findInTable(text: string, firstName: number, spans: RedactionSpan[]): void {
  let at = text.lastIndexOf('\n', firstName) + 1
  for (const line of text.slice(at, MAX_HEADER).split('\n')) {
    const sign = /[,;\t|]/.exec(line)?.[0]
    const next = at + line.length + 1
    if (sign !== undefined && next < text.length) {
      const strengths = strengthsOfColumns(cellsOf(line, sign))
      if (strengths) return findInRows(text, next, sign, strengths, spans)
    }
    at = next
  }
}

const cellsOf = (line: string, sign: string): readonly string[] => line.replace(/\r$/, '').split(sign)

/** Undefined if the line is not the header of a table with secrets. */
function strengthsOfColumns(cells: readonly string[]): readonly (NameStrength | undefined)[] | undefined {
  const names = cells.map((cell) => cell.trim())
  const isHeader =
    names.length >= 2 && names.length <= MAX_COLUMNS && names.every((name) => name === '' || COLUMN_NAME.test(name))
  if (!isHeader) return undefined
  const strengths = names.map((name) =>
    IS_EASTERN_COLUMN.test(name) ? 'password' : strengthOfName(name.replace(/"/g, '').replaceAll(' ', '_')),
  )
  return strengths.some((one) => one !== undefined && one !== 'weak') ? strengths : undefined
}

function findInRows(
  text: string,
  from: number,
  sign: string,
  strengths: readonly (NameStrength | undefined)[],
  spans: RedactionSpan[],
): void {
  let at = from
  for (let row = 0; row < MAX_ROWS && at < text.length; row++) {
    const end = text.indexOf('\n', at) < 0 ? text.length : text.indexOf('\n', at)
    const line = text.slice(at, end)
    const cells = cellsOf(line, sign)
    if (cells.length !== strengths.length) return
    let start = at
    for (const [column, cell] of RULE.test(line) ? [] : cells.entries()) {
      const strength = strengths[column]
      const value = cell.trim().replace(/^["`]+|["`]+$/g, '')
      const offset = start + cell.indexOf(value)
      if (
        strength !== undefined &&
        isSecretValue(value, strength, /["`]/.test(cell) || sign === '|' ? 'quoted' : 'line')
      )
        spans.push({ start: offset, end: offset + value.length, kind: 'setting' })
      start += cell.length + 1
    }
    at = end + 1
  }
}
