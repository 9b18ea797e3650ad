/** Finds credentials in addresses: `scheme://user:password@host` and `scheme://token@host`. */
import { isPlaceholder, isReference } from './placeholder.ts'
import { looksRandom } from './plausible-value.ts'
import type { RedactionSpan } from './span.ts'

/** Up to the last `@` before the path; else up to the first one before a host. */
const USER_INFO = /:\/\/([^\s"'<>`/?#@:\\]{0,200}):([^\s"'<>`/?#\\]{1,400})@(?=[\w.[$%-])/y
const SLASHED =
  /:\/\/([^\s"'<>`/?#@:\\]{0,200}):([^\s"'<>`@\\]{1,400})@(?=[\w-]+(?:\.[\w-]+)*(?::\d+)?(?:[/?\s"'`]|$))/y
const TOKEN_ONLY = /:\/\/([^\s"'<>`/?#@:\\]{16,400})@(?=[\w.[-])/y

/** @param at of `://` */
export function findInUrl(text: string, at: number, spans: RedactionSpan[]): void {
  if (!/[a-z0-9]/i.test(text[at - 1] ?? '')) return
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
