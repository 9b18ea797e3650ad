/** Finds values that a name gives away: settings, headers, source code, options, addresses, markup, tables. */
import type { NamePlace } from './near-names.ts'
import { isReference, splitWords } from './placeholder.ts'
import { isSecretValue, isWordy, looksRandom, type ValueForm } from './plausible-value.ts'
import {
  BARE_VALUE,
  CONNECTION_VALUE,
  LINE_VALUE,
  QUERY_VALUE,
  type ReadValue,
  readBare,
  readQuoted,
} from './read-value.ts'
import { type NameStrength, strengthOfName } from './secret-names.ts'
import { findInSentence, findPin } from './sentences.ts'
import type { RedactionSpan } from './span.ts'

const MAX_NAME = 80

const isNameCode = (code: number): boolean =>
  (code >= 97 && code <= 122) ||
  (code >= 65 && code <= 90) ||
  (code >= 48 && code <= 57) ||
  code === 95 ||
  code === 45 ||
  code === 46 ||
  (code >= 0xc0 && code < 0x250)

interface Name {
  readonly start: number
  readonly end: number
  readonly text: string
  readonly strength: NameStrength
}

/**
 * Examines the name at a position. Returns where it ends, so that each name is examined once.
 * @param at of a letter in the name
 * @param unassigned gets the name if no value follows it
 */
export function findAssigned(text: string, at: number, spans: RedactionSpan[], unassigned: NamePlace[]): number {
  let start = at
  while (start > 0 && at - start < MAX_NAME && isNameCode(text.charCodeAt(start - 1))) start--
  // The letter of an escape sequence is not part of the name.
  if (text[start - 1] === '\\' && /[nrtbf]/.test(text[start] ?? '') && start < at) start++
  let end = at
  while (end < text.length && end - start < 2 * MAX_NAME && isNameCode(text.charCodeAt(end))) end++
  while (end > at && /[.-]/.test(text[end - 1] ?? '')) end--
  if (end - start >= 2 * MAX_NAME) return end
  const written = text.slice(start, end)
  const name = written.replace(/^[-.]+/, '')
  const strength = strengthOf(text, start, name)
  if (findPin(text, start, end, name, spans)) return end
  if (strength === undefined) {
    unassigned.push({ start, end, strength })
    return end
  }
  const found = readAssigned(text, { start, end, text: written, strength })
  if (found) spans.push(found)
  else {
    if (strength !== 'weak') findInSentence(text, { start, end, strength }, spans)
    if (strength === 'password') findBelow(text, start, end, spans)
    else findTokenBelow(text, end, spans)
    unassigned.push({ start, end, strength })
  }
  return end
}

/** A password alone in the line below its name, as copied from a form. */
const BELOW =
  /[ \t]*:?[ \t]*\r?\n[ \t]*((?=\S*\d)(?=\S*[A-Za-z])(?=\S*[!@#$%^&*?~+])[^\s"'`()<>{}[\]\\|;,]{8,64})[ \t]*(?:\r?\n|$)/y

function findBelow(text: string, start: number, end: number, spans: RedactionSpan[]): void {
  BELOW.lastIndex = end
  const [all = '', value = ''] = BELOW.exec(text) ?? []
  if (value === '' || !/^\s*$/.test(text.slice(text.lastIndexOf('\n', start - 1) + 1, start).slice(-40))) return
  const at = end + all.indexOf(value)
  if (isSecretValue(value, 'password', 'sentence')) spans.push({ start: at, end: at + value.length, kind: 'setting' })
}

/** A token alone in the line below a sentence that ends with its name. */
const TOKEN_BELOW = /["'`*:]{0,3}[ \t]*\r?\n(?:[ \t]*\r?\n)?[ \t]*`{0,3}([\w.~+/=-]{20,400})`{0,3}[ \t]*(?=\r?\n|$)/y

function findTokenBelow(text: string, end: number, spans: RedactionSpan[]): void {
  TOKEN_BELOW.lastIndex = end
  const [all = '', value = ''] = TOKEN_BELOW.exec(text) ?? []
  if (!/\d/.test(value) || !/[A-Z]/.test(value) || !/[a-z]/.test(value) || /\.\w{1,5}$|^[/.~]/.test(value)) return
  const at = end + all.lastIndexOf(value)
  if (isSecretValue(value, 'token', 'sentence') && looksRandom(value))
    spans.push({ start: at, end: at + value.length, kind: 'setting' })
}

/** A short name gets its meaning from the word before: `API key`, `access token`. */
function strengthOf(text: string, start: number, name: string): NameStrength | undefined {
  if (SHORT_NAME.test(name)) {
    const before = WORD_BEFORE.exec(text.slice(Math.max(0, start - 24), start))?.[1]
    if (before !== undefined) return strengthOfName(`${before}_${name}`) ?? strengthOfName(name)
  }
  if (/^passe$/i.test(name) && /\bmot de $/i.test(text.slice(Math.max(0, start - 8), start))) return 'password'
  return strengthOfName(name)
}

const SHORT_NAME = /^(?:keys?|tokens?|codes?|phrase|secret|string|words)$/i
const WORD_BEFORE = /([A-Za-z]{3,16})[ \t]$/

function readAssigned(text: string, name: Name): RedactionSpan | undefined {
  const isFlag = /^--?[A-Za-z]/.test(name.text) && /[\s"'=([,]|^$/.test(text.charAt(name.start - 1))
  const before = text[name.start - 1]
  if (
    before === '<' ||
    (before === ':' && /<[\w-]{1,20}:$/.test(text.slice(Math.max(0, name.start - 24), name.start)))
  ) {
    ELEMENT_START.lastIndex = name.end
    const start = ELEMENT_START.exec(text)?.[0].length
    if (start !== undefined) return readElement(text, name, name.end + start)
  }
  if (before === '"' || before === "'") {
    NAMED_REST.lastIndex = name.end
    const rest = NAMED_REST.exec(text)?.[0].length
    if (rest !== undefined && NAMED_ELEMENT.test(text.slice(Math.max(0, name.start - 170), name.start)))
      return readElement(text, name, name.end + rest)
  }
  const earlier =
    before === '"' ? VALUE_BEFORE.exec(text.slice(Math.max(0, name.start - 600), name.start))?.[1] : undefined
  if (earlier !== undefined && /["},]/.test(text.charAt(name.end))) {
    const start = text.lastIndexOf(earlier, name.start)
    const found = judge(text, { start, end: start + earlier.length, next: 0 }, name.strength, 'quoted')
    if (found) return found
  }
  NESTED.lastIndex = name.end
  const nested = NESTED.exec(text)?.[0].length
  const inner = nested === undefined ? undefined : readQuoted(text, name.end + nested)
  if (inner) return judge(text, inner, name.strength, 'quoted')
  SEPARATOR.lastIndex = name.end
  const separator = SEPARATOR.exec(text)
  if (!separator) return isFlag ? readOption(text, name) : (readCall(text, name) ?? readAfterBlank(text, name))
  const sign = separator[1] ?? ''
  const at = name.end + separator[0].length + typeLength(text, name.end + separator[0].length, sign)
  if (/^authorization$/i.test(name.text.replace(/^proxy-/i, ''))) return readAuthorization(text, at)
  if (sign === '|' && !isTableRow(text, name.start)) return undefined
  const quoted = readQuoted(text, at)
  // The first two arguments of a call. In a list, a name says nothing about the next item.
  if (sign === ',') {
    const start = text.slice(Math.max(0, name.start - 30), name.start)
    const isArgument = isFlag || IS_FIRST.test(start) || IS_ASSERTED.test(start)
    const isValue = quoted && isArgument && !IS_KEY.test(text.slice(quoted.next, quoted.next + 12))
    return isValue ? judge(text, quoted, name.strength, 'quoted') : undefined
  }
  if (quoted) return judge(text, withoutScheme(text, quoted), name.strength, 'quoted')
  if (NEEDS_QUOTES.test(sign)) return undefined
  return readUnquoted(text, name, at, sign, separator[0])
}

/** Also as a selector: `fill('#password', …)`, `type('[name=password]', …)`. */
const IS_FIRST = /\(\s*\\*["'`](?:[#.]|[\w-]{0,12}\[\w{1,12}[~^$*|]?=\\*["']?)?$/

/** `assertEquals(config.password, "x")`. */
const IS_ASSERTED = /(?:assert\w{0,20}!?|equals?|expect)\(\s*$/i

const isTableRow = (text: string, at: number): boolean =>
  /^\s*\|/.test(text.slice(text.lastIndexOf('\n', at - 1) + 1, at))

/** A text behind which a colon or an equals sign stands is a name itself. */
const IS_KEY = /^\\{0,7}["'`]?\s{0,3}[:=]/

/** What stands between a name and its value. A quoted value may be on the next line. */
const SEPARATOR =
  /(?:\\{0,7}["'`\])*]){0,3}(?:[ \t]?[([][^()[\]\n]{0,30}[)\]])?[?!]?(?:[ \t]+As[ \t]+\w{1,20})?(?:(?:\\{0,7}["'])?(?:[,;]\s{0,24}|\s{1,24})\\{0,7}["']?(?:value|content|Value|default)\\{0,7}["']?[ \t]?[:=]|[ \t]{0,24}(\|\|=?|\?\?=?|or(?=[ \t]+["'])|\.(?:fill|type|sendKeys|send_keys|setValue|set_value|pressSequentially|clear_and_type|typeText)\(|=>|:=|\?=|\+=|={1,3}|::?|->|<?<-|!=|＝|：|→|⇒|,|\|))[ \t]{0,24}(?:\r?\n[ \t]{0,24}(?=["'`]))?(?:\*\*[ \t]?|[|>][-+]?[ \t]*\r?\n[ \t]+|(?:Buffer\.from|SecretStr|SecretString::(?:new|from)|String::from|Some)\((?=["'`]))?/y

/** `"password": {"sensitive": true, "value": "x"}`, `variable "db_password" { default = "x" }`. */
const NESTED =
  /\\{0,7}["']?\s{0,3}[:=]?\s{0,3}\{[^{}]{0,200}?(?<![A-Za-z])\\{0,7}["']?(?:value|default)\\{0,7}["']?\s{0,3}[:=]\s{0,3}(?=\\{0,7}["'])/y

/** `<entry key="db.password">x</entry>`, `<setting name="ApiSecret"><value>x</value>`. */
const NAMED_ELEMENT = /<[\w:.-]{1,40}\s[^<>]{0,120}(?:key|name|id)\s?=\s?["']$/i
/** `{"value":"x","name":"API_SECRET"}`. */
const VALUE_BEFORE = /"[Vv]alue"\s?:\s?"(?:bearer )?([^"\\\n]{4,400})"\s?,\s{0,24}"(?:name|key|Name|Key)"\s?:\s?"$/i
const NAMED_REST = /["'](?:\s(?![^<>\n]*\bvalue\s?=)[^<>\n]{0,120}(?<!\/))?>\s{0,24}(?:<value>\s{0,24})?/iy

/** `||`, `??`, `or`, and the calls of browser tests: what follows without quotes is code. */
const NEEDS_QUOTES = /^(?:\|\||\?\?|or$|\.)/
/** `password: string = 'x'`. */
const TYPE =
  /(?:&?(?:'\w+[ \t]+)?[A-Za-z_$][\w.$<>[\]]{0,40}(?:[ \t]?[|&][ \t]?[A-Za-z_$][\w.$<>[\]]{0,40}){0,3})[ \t]*=[ \t]*(?=[bBrRfFuU@]{0,2}\\{0,7}["'`])/y

function typeLength(text: string, at: number, sign: string): number {
  if (sign !== ':') return 0
  TYPE.lastIndex = at
  return TYPE.exec(text)?.[0].length ?? 0
}

function readUnquoted(
  text: string,
  name: Name,
  at: number,
  sign: string,
  separator: string,
): RedactionSpan | undefined {
  const before = text.charAt(name.start - 1)
  if (before === '?' || before === '&') {
    const value = readBare(text, at, QUERY_VALUE)
    return value && judge(text, value, name.strength === 'weak' ? 'token' : name.strength, 'flag')
  }
  const line = text.slice(text.lastIndexOf('\n', name.start - 1) + 1, name.start)
  const isAssigned = sign === '=' && !/\s/.test(separator) && /^[A-Z][A-Z\d_]*$/.test(name.text)
  if (isAssigned || LINE_START.test(line.slice(-80))) {
    const value = readBare(text, at, LINE_VALUE)
    if (value && (isAssigned || LINE_END.test(text.slice(value.next, value.next + 80))))
      return judge(text, cutShell(text, value, isAssigned), name.strength, 'line')
  }
  if (before === ';' || sign === '=') {
    const value = readBare(text, at, CONNECTION_VALUE)
    if (value && (before === ';' || /^;\s?[A-Za-z][\w ]*=/.test(text.slice(value.next, value.next + 60))))
      return judge(text, value, name.strength, 'flag')
  }
  const scheme = SCHEME.exec(text.slice(at, at + 12))?.[0].length ?? 0
  const value = readBare(text, at + scheme, BARE_VALUE)
  if (!value || /[([{]/.test(text[value.next] ?? '')) return undefined
  // A header, an option or a field of a form.
  const isFree = scheme > 0 || name.text.startsWith('-') || /^x-/i.test(name.text)
  return judge(text, value, name.strength, isFree ? 'flag' : 'bare')
}

const LINE_START =
  /^\s*(?:[-*#;>$%+]{0,3}\s*)?(?:(?:export|set|setx|ENV|ARG|env|declare -x|set -[gx]+|\$env:|-e|--env|--build-arg|Environment=|readonly|local|\d+[:|→]?)\s*)*["']?[\w ]{0,24}$/
const LINE_END = /^[ \t]*(?:[#\\].*)?(?:\r?\n|$|\\[nr])/

/** Behind `NAME=value`, a shell or a connection string may continue. */
function cutShell(text: string, value: ReadValue, isAssigned: boolean): ReadValue {
  const written = text.slice(value.start, value.end)
  const field = written.search(/;\s?(?:[\w ]*=|\w{0,2}$)/)
  if (field > 0) return { ...value, end: value.start + field }
  if (!isAssigned || LINE_END.test(text.slice(value.next, value.next + 80))) return value
  const cut = written.search(/[;|&<>]/)
  return cut < 0 ? value : { ...value, end: value.start + cut }
}

const ELEMENT_START = /(?:\s[^<>\n]{0,200})?>(?:\s{0,24}<value>\s{0,24})?/iy

function readElement(text: string, name: Name, start: number): RedactionSpan | undefined {
  const end = text.indexOf('<', start)
  if (end < 0 || end - start > 4000) return undefined
  const cdata = text.startsWith('<![CDATA[', end) ? 9 : 0
  const from = cdata ? end + cdata : start
  const to = cdata ? text.indexOf(']]>', from) : end
  return to < 0 ? undefined : judge(text, { start: from, end: to, next: to }, name.strength, 'quoted')
}

/** `--password X`, also as two items of a list. */
function readOption(text: string, name: Name): RedactionSpan | undefined {
  OPTION_GAP.lastIndex = name.end
  const gap = OPTION_GAP.exec(text)?.[0].length
  if (gap === undefined) return undefined
  const at = name.end + gap
  const value = readQuoted(text, at) ?? readBare(text, at, LINE_VALUE)
  return value && judge(text, withoutScheme(text, value), name.strength === 'weak' ? 'token' : name.strength, 'flag')
}

const OPTION_GAP = /[ \t]+(?:\\\r?\n[ \t]*)?/y

/** `PASSWORD 'x'` of SQL, `password x` of netrc and of configuration files. */
function readAfterBlank(text: string, name: Name): RedactionSpan | undefined {
  if (!/[ \t]/.test(text[name.end] ?? '')) return undefined
  let at = name.end
  while (/[ \t]/.test(text[at] ?? '')) at++
  const line = text.slice(Math.max(0, name.start - 120), name.start)
  const isNetrc = /\b(?:login|machine|user|username|account)\s+\S+\s+$/.test(line)
  if (/authorization$/i.test(name.text)) return readAuthorization(text, at)
  const quoted = readQuoted(text, at)
  if (quoted) {
    // "Pass `x`" is prose; `PASSWORD 'x'` is SQL.
    const form = text[at] === '`' || /^pass$/i.test(name.text) ? 'sentence' : 'quoted'
    return name.strength === 'password' || name.strength === 'strong'
      ? judge(text, quoted, name.strength, form)
      : undefined
  }
  const value = readBare(text, at, LINE_VALUE)
  if (!value) return undefined
  if (isNetrc && name.strength === 'password') return judge(text, value, 'password', 'line')
  const written = text.slice(value.start, value.end)
  const isEnvironment = /^\s*(?:ENV|ARG)\s+$/.test(line.slice(line.lastIndexOf('\n') + 1))
  if (isEnvironment) return judge(text, value, name.strength, 'line')
  const isLikely =
    looksRandom(written) ||
    (name.strength === 'password' &&
      /\d/.test(written) &&
      /[a-z]/i.test(written) &&
      written.length >= 8 &&
      /[A-Z!@#$%^&*?~]/.test(written))
  return isLikely ? judge(text, value, name.strength, 'bare') : undefined
}

/** `setPassword("x")`, `.apiKey("x")`, `PASSWORD('x')`; but not `getPassword("prompt")`. */
function readCall(text: string, name: Name): RedactionSpan | undefined {
  if (text[name.end] !== '(' || (name.strength !== 'password' && name.strength !== 'strong')) return undefined
  const own = name.text.slice(name.text.lastIndexOf('.') + 1)
  if (!/^(?:set|with|use|put)[A-Z_]/.test(own) && splitWords(own).length > 2) return undefined
  if (/^(?:get|read|load|fetch|has|is|check|verify|hash|compare|test|new)[A-Z_]/.test(own)) return undefined
  const quoted = readQuoted(text, name.end + 1)
  const isOnly = quoted && /^\s*\)/.test(text.slice(quoted.next, quoted.next + 8))
  return isOnly ? judge(text, quoted, name.strength, 'quoted') : undefined
}

const SCHEME = /^(?:bearer|basic|token|apikey|api-key|negotiate|sso-key|key|bot|jwt|digest|ssws)\s{1,4}/i

function withoutScheme(text: string, value: ReadValue): ReadValue {
  const scheme = SCHEME.exec(text.slice(value.start, Math.min(value.end, value.start + 14)))?.[0].length ?? 0
  return scheme === 0 ? value : { ...value, start: value.start + scheme }
}

/** Everything behind the scheme is secret, whatever it looks like. */
function readAuthorization(text: string, at: number): RedactionSpan | undefined {
  AUTHORIZATION.lastIndex = at
  const found = AUTHORIZATION.exec(text)
  const value = found?.[1]
  if (found === null || value === undefined || isReference(value) || !/\d|[A-Z].*[a-z].*[A-Z]|=$/.test(value))
    return undefined
  if (/^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$/.test(value) && isWordy(value)) return undefined
  const start = at + found[0].length - value.length
  return judge(text, { start, end: start + value.length, next: 0 }, 'password', 'flag', 'authorization')
}

const AUTHORIZATION = /(?:\\{0,7}["'`])?(?:[A-Za-z][\w-]{2,20}\s{1,4})?([^\s"'`<>{}()\\,]{8,4000})/y

function judge(
  text: string,
  { start, end }: ReadValue,
  strength: NameStrength,
  form: ValueForm,
  kind = 'setting',
): RedactionSpan | undefined {
  return isSecretValue(text.slice(start, end), strength, form) ? { start, end, kind } : undefined
}
