/** The house as a command enters it: with the settings of this run, and a word about those that are wrong. */
import { House, thisMachine } from '../app.ts'
import { describeConfigProblem } from '../config.ts'
import { AppError } from '../model/error.ts'
import { writeErr } from './output.ts'

let flags: ReadonlyMap<string, string> = new Map()

/** @param given `key=value`, as `--set` takes them */
export function setFlags(given: readonly string[]): void {
  flags = new Map(given.map(split))
}

function split(text: string): [key: string, value: string] {
  const at = text.indexOf('=')
  if (at <= 0) throw new AppError('bad_usage', `--set takes a setting and its value: --set keep=all`)
  return [text.slice(0, at), text.slice(at + 1)]
}

/** Who opens it closes it. */
export async function openHouse(): Promise<House> {
  const house = quietHouse()
  for (const problem of (await house.config()).problems) {
    if (problem.where === '--set') throw new AppError('bad_usage', describeConfigProblem(problem))
    await writeErr(`fumi: ${describeConfigProblem(problem)}\n`)
  }
  return house
}

/** For commands that tell of problems in their own way. */
export const quietHouse = (): House => new House(thisMachine(), { flags })
