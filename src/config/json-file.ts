/** Reads a JSON file that a person wrote, and says where it is wrong. */
import { readRegular } from '../lib/files/regular-file.ts'
import { isSystemError, whyOf } from '../lib/files/system-error.ts'
import { jsonFault, placeIn } from '../lib/json/fault.ts'
import { isJsonObject, type JsonObject, parseJson } from '../lib/json/lossless.ts'
import { type Phrase, phrase } from '../model/phrase.ts'
import type { ConfigProblem } from './problem.ts'

export interface JsonFile {
  readonly path: string
  /** Empty where there is no file, or nothing in it. */
  readonly content: JsonObject
  /** For each object that names a key twice, that key. */
  readonly duplicates: ReadonlyMap<object, string>
  readonly exists: boolean
  /** Why nothing of it can be used. Such a file is never written to. */
  readonly problem?: ConfigProblem
}

export function readJsonFile(path: string): JsonFile {
  const nothing = { path, content: {}, duplicates: new Map(), exists: true }
  const unusable = ({ en, ja }: Phrase, where = path): JsonFile => {
    const reason = phrase(
      `${en} Until then nothing of this file is used.`,
      `${ja}それまで、このファイルの内容は使いません。`,
    )
    return { ...nothing, problem: { where, key: '', reason } }
  }
  let bytes: Buffer
  try {
    bytes = readRegular(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return { ...nothing, exists: false }
    if (code === 'EFTYPE' && isSystemError(error)) {
      const { en, ja } = whyOf(error)
      return unusable(phrase(`it is ${en}.`, `${ja}。`))
    }
    return unusable(
      phrase(`it cannot be read (${code}): check its mode.`, `読み取れません（${code}）。モードを確認してください。`),
    )
  }
  const text = utf8(bytes)
  if (text === undefined)
    return unusable(
      phrase('it is not UTF-8 text: save it as such.', 'UTF-8 のテキストではありません。UTF-8 で保存してください。'),
    )
  if (text.trim() === '') return nothing
  const fault = jsonFault(text)
  if (fault) {
    const { line, column } = placeIn(text, fault.at)
    const { en, ja } = fault.reason
    return unusable(phrase(`${en}.`, `${ja}。`), `${path}:${line}:${column}`)
  }
  const parsed = parseJson(text, { duplicates: true })
  if (!parsed.ok)
    return unusable(phrase(`${parsed.reason}: mend it.`, `JSON として読めません（${parsed.reason}）。直してください。`))
  if (!isJsonObject(parsed.value))
    return unusable(phrase('it must hold an object: { … }.', '中身はオブジェクト { … } にしてください。'))
  return { ...nothing, content: parsed.value, duplicates: parsed.duplicates }
}

function utf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
