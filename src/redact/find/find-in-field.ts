/** Finds secrets in the value of a field, whose name may be what gives it away. */
import { findInText } from './find-in-text.ts'
import { isPlaceholder } from './placeholder.ts'
import { isSecretValue } from './plausible-value.ts'
import { strengthOfName } from './secret-names.ts'
import { mergeSpans, type RedactionSpan } from './span.ts'

const MAX_NAME = 100
/** Their values have a grammar of their own. */
const HEADER = /^(?:proxy-)?authorization$|^(?:set-)?cookies?$/i
const DOCKER_AUTH = /^_?auth$/

/** @param key of the field; the complete text is its value */
export function findInField(text: string, key: string | undefined): readonly RedactionSpan[] {
  const spans = findInText(text)
  if (key === undefined || key.length > MAX_NAME) return spans
  const own = findByName(text, key)
  return own.length === 0 ? spans : mergeSpans([...spans, ...own])
}

function findByName(text: string, key: string): readonly RedactionSpan[] {
  if (HEADER.test(key)) return findBehind(text, `${key}: `)
  const strength = strengthOfName(key)
  const trimmed = text.trim()
  if (DOCKER_AUTH.test(key) && isEncodedLogin(trimmed)) return [{ start: 0, end: text.length, kind: 'setting' }]
  if (strength === undefined || trimmed === '') return []
  const start = text.indexOf(trimmed)
  const scheme = /^(?:bearer|basic|token)\s+/i.exec(trimmed)?.[0].length ?? 0
  if (!isSecretValue(trimmed.slice(scheme), strength, 'quoted')) return []
  return [{ start: start + scheme, end: start + trimmed.length, kind: 'setting' }]
}

/** As if the name stood before the text. */
function findBehind(text: string, name: string): readonly RedactionSpan[] {
  return findInText(name + text).flatMap(({ start, end, kind }) =>
    end <= name.length ? [] : [{ start: Math.max(0, start - name.length), end: end - name.length, kind }],
  )
}

/** `user:password` in base64. */
function isEncodedLogin(text: string): boolean {
  if (text.length < 8 || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return false
  const decoded = Buffer.from(text, 'base64').toString('utf8')
  return /^[\x21-\x7e]+:[\x21-\x7e]+$/.test(decoded) && !isPlaceholder(decoded.split(':')[1] ?? '')
}
