/** Finds credentials in addresses: `scheme://user:password@host` and `scheme://token@host`. */
import { isPlaceholder, isReference } from './placeholder.ts'
import { looksRandom } from './plausible-value.ts'
import type { RedactionSpan } from './span.ts'

/** Up to the last `@` before the path; else up to the first one before a host. */
const USER_INFO = /:\/\/([^\s"'<>`/?#@:\\]{0,200}):([^\s"'<>`/?#\\]{1,400})@(?=[\w.[$%-])/y
const SLASHED =
  /:\/\/([^\s"'<>`/?#@:\\]{0,200}):([^\s"'<>`@\\]{1,400})@(?=[\w-]+(?:\.[\w-]+)*(?::\d+)?(?:[/?\s"'`]|$))/y
const TOKEN_ONLY = /:\/\/([^\s"'<>`/?#@:\\]{16,400})@(?=[\w.[-])/y

/** Addresses that give access to everybody who has them. */
const LETS_IN =
  /:\/\/[^\s"'<>`?#]{0,300}?[/?&_.-](?:reset|magic|verify|verification|invite|invitation|confirm|activate|login|signin|sign-in|callback|cb|oauth|sso|unlock|auth|join)(?:[/?&=_.-]|(?<=[a-z])-?(?:password|link|email|token|code))[^\s"'<>`]{0,2000}/iy
const PART = /(?<=[/=])([\w~%-][\w.~%/-]{15,2000})(?=[&#?]|$)/g

function findLink(text: string, at: number, spans: RedactionSpan[]): void {
  LETS_IN.lastIndex = at
  const link = LETS_IN.exec(text)?.[0].replace(/[.,;:)\]}]+$/, '')
  if (link === undefined) return
  const query = link.indexOf('?')
  for (const { 0: part, index } of link.matchAll(PART)) {
    const isQuery = query >= 0 && index > query
    const value = isQuery ? part : part.slice(part.lastIndexOf('/') + 1)
    const isPublic = PUBLIC_FIELD.test(link.slice(Math.max(0, index - 30), index))
    if (
      isPublic ||
      value.length < 20 ||
      /\.(?:html?|md|png|jpe?g|svg|pdf|js|json|css|php|aspx?)$/i.test(value) ||
      !looksRandom(value) ||
      !isReal(value, '')
    )
      continue
    const start = at + index + part.length - value.length
    spans.push({ start, end: start + value.length, kind: 'link' })
  }
}

/** Fields of a query that are not secret. */
const PUBLIC_FIELD =
  /[?&](?:client_id|redirect_uri|scope|code_challenge|response_type|audience|state|nonce|next|return_to|utm_\w+)=$/

/** @param at of `://` */
export function findInUrl(text: string, at: number, spans: RedactionSpan[]): void {
  if (!/[a-z0-9]/i.test(text[at - 1] ?? '')) return
  findLink(text, at, spans)
  for (const pattern of [USER_INFO, SLASHED]) {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (!found) continue
    const [all, user = '', password = ''] = found
    if (isReal(password, user)) spans.push({ start: at + 3, end: at + all.length - 1, kind: 'basicauth' })
    return
  }
  TOKEN_ONLY.lastIndex = at
  const token = TOKEN_ONLY.exec(text)?.[1]
  if (token !== undefined && looksRandom(token) && isReal(token, ''))
    spans.push({ start: at + 3, end: at + 3 + token.length, kind: 'basicauth' })
}

const isReal = (password: string, user: string): boolean =>
  password.length >= 4 &&
  password !== user &&
  !/^(?:x-oauth-basic|\*+|\.+|port|\d{1,5})$/.test(password) &&
  !isReference(password) &&
  !isPlaceholder(password)
