/** Changes the file `config.json` without losing anything that stands in it. */
import { replaceOwnFile } from '../lib/disk/replace-file.ts'
import { isJsonObject, type JsonObject, type JsonValue, jsonEntries } from '../lib/json/lossless.ts'
import { toJsonMap, writeJson } from '../lib/json/write.ts'
import { AppError } from '../model/error.ts'
import { readJsonFile } from './json-file.ts'

/**
 * With nothing for a value the key is taken out. All else stays as it is, also what is not understood. Throws AppError when
 * the file cannot be used or written.
 */
export function changeConfigFile(path: string, key: string, value: JsonValue | undefined): void {
  const { content, problem } = readJsonFile(path)
  if (problem)
    throw new AppError(
      'unusable_data',
      `${problem.where}: ${problem.reason.en} It was left as it is: mend it first.`,
      `${problem.where}: ${problem.reason.ja}ファイルはそのままです。先に直してください。`,
    )
  const text = writeJson(withSetting(content, key.split('.'), value), 2)
  if (text === writeJson(content, 2)) return
  replaceOwnFile(path, `${text}\n`)
}

function withSetting(
  object: JsonObject,
  [key = '', ...rest]: readonly string[],
  value: JsonValue | undefined,
): JsonObject {
  const fields = toJsonMap<JsonValue>(object)
  if (rest.length === 0) {
    if (value === undefined) fields.delete(key)
    else fields.set(key, value)
    return fields
  }
  const inner = fields.get(key) ?? {}
  if (!isJsonObject(inner))
    throw new AppError(
      'unusable_data',
      `"${key}" in the file is no object. Mend it first: nothing was changed.`,
      `ファイルの「${key}」がオブジェクトではありません。何も変更していません。先に直してください。`,
    )
  const next = withSetting(inner, rest, value)
  if (value === undefined && jsonEntries(next).length === 0) fields.delete(key)
  else fields.set(key, next)
  return fields
}
