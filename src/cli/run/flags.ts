/** Settings of this run, as `--set` gives them. */
import { AppError } from '../../model/error.ts'

let flags: ReadonlyMap<string, string> = new Map()

/** @param given `key=value`, as `--set` takes them */
export function setFlags(given: readonly string[]): void {
  flags = new Map(given.map(split))
}

export const flagsOfRun = (): ReadonlyMap<string, string> => flags

function split(text: string): [key: string, value: string] {
  const at = text.indexOf('=')
  if (at <= 0)
    throw new AppError(
      'bad_usage',
      '--set takes a setting and its value: --set keep=all',
      '--set には設定と値を指定してください: --set keep=all',
    )
  return [text.slice(0, at), text.slice(at + 1)]
}
