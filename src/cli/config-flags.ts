/** The settings that `--set` gives for this run. */
import { AppError } from '../model/error.ts'

let currentFlags: ReadonlyMap<string, string> = new Map()

/** @param given `key=value`, as typed */
export function setConfigFlags(given: readonly string[]): void {
  currentFlags = new Map(given.map(splitFlag))
}

export const configFlags = (): ReadonlyMap<string, string> => currentFlags

function splitFlag(text: string): [key: string, value: string] {
  const at = text.indexOf('=')
  if (at <= 0)
    throw new AppError(
      'bad_usage',
      '--set requires a setting and a value, for example --set keep=all',
      '--set には設定と値を指定してください。例: --set keep=all',
    )
  return [text.slice(0, at), text.slice(at + 1)]
}
