/** The model provider that `config.toml` selects. Codex lists and opens only sessions of this provider. */
import { join } from 'node:path'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { isFile } from '../../lib/files/safe-fs.ts'
import type { HostEnvironment } from '../agent.ts'
import { roots } from './find.ts'

const DEFAULT_PROVIDER = 'openai'

export function configuredProvider(environment: HostEnvironment): string {
  const path = join(roots(environment)[0] ?? '', 'config.toml')
  if (!isFile(path)) return DEFAULT_PROVIDER
  const texts = tomlTexts(readRegularFile(path).toString('utf8'))
  const profile = texts.get('profile')
  return (
    (profile === undefined ? undefined : texts.get(`profiles.${profile}.model_provider`)) ??
    texts.get('model_provider') ??
    DEFAULT_PROVIDER
  )
}

const BARE_OR_QUOTED = String.raw`(?:[\w-]+|"[^"\n]*"|'[^'\n]*')`
const KEY = String.raw`${BARE_OR_QUOTED}(?:\s*\.\s*${BARE_OR_QUOTED})*`
const TABLE = new RegExp(String.raw`^\s*\[\s*(${KEY})\s*\]\s*(?:#.*)?$`)
const TEXT_VALUE = new RegExp(String.raw`^\s*(${KEY})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)')\s*(?:#.*)?$`)
const MULTILINE_MARK = /"""|'''/g

/** Single-line text values by their full key. Skips inline tables and arrays. */
function tomlTexts(toml: string): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  let table = ''
  let openMark: string | undefined
  for (const line of toml.replace(/^\uFEFF/, '').split(/\r?\n/)) {
    const marks = line.match(MULTILINE_MARK) ?? []
    const wasOpen = openMark !== undefined
    for (const mark of marks) openMark = openMark === undefined ? mark : openMark === mark ? undefined : openMark
    if (wasOpen || marks.length > 0) continue
    const header = TABLE.exec(line)?.[1]
    if (header !== undefined) table = plainKey(header)
    // Ignores arrays of tables.
    else if (/^\s*\[\[/.test(line)) table = '[]'
    const [, key, basic, literal] = TEXT_VALUE.exec(line) ?? []
    if (key === undefined) continue
    const full = table === '' ? plainKey(key) : `${table}.${plainKey(key)}`
    texts.set(full, literal ?? unescapeText(basic ?? ''))
  }
  return texts
}

const plainKey = (key: string): string =>
  (key.match(new RegExp(BARE_OR_QUOTED, 'g')) ?? []).map((part) => part.replace(/^["'](.*)["']$/, '$1')).join('.')

const unescapeText = (text: string): string => text.replaceAll(/\\(["\\])/g, '$1')
