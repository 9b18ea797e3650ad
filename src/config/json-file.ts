/** Reads a JSON file that a person wrote, and says where its errors are. */

import { readRegularFile } from '../lib/files/regular-file.ts'
import { describeSystemError, isSystemError } from '../lib/files/system-error.ts'
import { isJsonObject, type JsonObject, parseJson } from '../lib/json/lossless.ts'
import { findJsonSyntaxError, lineAndColumnOf } from '../lib/json/syntax-error.ts'
import { type Phrase, phrase } from '../model/phrase.ts'

export interface ConfigProblem {
  /** The file with line and column if known, the environment variable, or the option. */
  readonly where: string
  /** `agents.codex.roots[1]`; empty for the file itself. */
  readonly key: string
  readonly reason: Phrase
}

export const describeConfigProblem = ({ where, key, reason }: ConfigProblem): Phrase =>
  phrase(`${where}: ${key === '' ? '' : `${key} `}${reason.en}`, `${where}: ${key === '' ? '' : `${key} `}${reason.ja}`)

export interface JsonConfigFile {
  readonly path: string
  /** Empty if the file is missing or empty. */
  readonly content: JsonObject
  /** The first repeated key of each object that has one. */
  readonly duplicates: ReadonlyMap<object, string>
  readonly exists: boolean
  /** Set if nothing in the file can be used. Such a file is never written. */
  readonly problem?: ConfigProblem
}

export function readJsonFile(path: string): JsonConfigFile {
  const empty = { path, content: {}, duplicates: new Map(), exists: true }
  const unusable = ({ en, ja }: Phrase, where = path): JsonConfigFile => {
    const reason = phrase(`${en} Until then this file is ignored.`, `${ja}それまで、このファイルの内容は使いません。`)
    return { ...empty, problem: { where, key: '', reason } }
  }
  let bytes: Buffer
  try {
    bytes = readRegularFile(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return { ...empty, exists: false }
    if (code === 'EFTYPE' && isSystemError(error)) {
      const { en, ja } = describeSystemError(error)
      return unusable(phrase(`it is ${en}.`, `${ja}。`))
    }
    return unusable(
      phrase(`cannot be read (${code}). Check its mode.`, `読み取れません（${code}）。モードを確認してください。`),
    )
  }
  const text = decodeUtf8(bytes)
  if (text === undefined)
    return unusable(
      phrase('not UTF-8 text. Save it as UTF-8.', 'UTF-8 のテキストではありません。UTF-8 で保存してください。'),
    )
  if (text.trim() === '') return empty
  const fault = findJsonSyntaxError(text)
  if (fault) {
    const { line, column } = lineAndColumnOf(text, fault.at)
    const { en, ja } = fault.reason
    return unusable(phrase(`${en}.`, `${ja}。`), `${path}:${line}:${column}`)
  }
  const parsed = parseJson(text, { duplicates: true })
  if (!parsed.ok)
    return unusable(
      phrase(`invalid JSON: ${parsed.reason}.`, `JSON として読めません（${parsed.reason}）。直してください。`),
    )
  if (!isJsonObject(parsed.value))
    return unusable(phrase('must contain an object: { … }.', '中身はオブジェクト { … } にしてください。'))
  return { ...empty, content: parsed.value, duplicates: parsed.duplicates }
}

function decodeUtf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
